package privacy

// A statement is a guarantee with what it is about: the neighbour relation and the unit it protects.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Adjacency is the relation between neighbouring data sets.
type Adjacency string

const (
	// ReplaceOne: one unit's data is replaced; the number of units is public.
	ReplaceOne Adjacency = "replace-one"
	// AddRemove: one unit's data is added or removed. Central verbs refuse it.
	AddRemove Adjacency = "add-remove"
	// Local: any two inputs of one unit, whose device adds the noise.
	Local Adjacency = "local"
)

// Metric is the distance between curves that a geo guarantee refers to.
type Metric string

const (
	// RMS is (∫‖q−q′‖²dt/T)^{1/2}: a distance in the units of the values.
	RMS Metric = "rms"
	// L2 is (∫‖q−q′‖²dt)^{1/2}: units of value times root of time.
	L2 Metric = "l2"
)

// Statement says what is guaranteed to whom. Adjacency belongs to GDP, ZCDP, Pure and Approx; Metric, and the unit of
// distance (such as "m"; empty for the units of the values), to Geo and ConcentratedGeo.
type Statement struct {
	Guarantee Guarantee
	Adjacency Adjacency
	Unit      string // the unit of privacy, such as "patient"
	Metric    Metric
	Distance  string
}

// maxText bounds the names a statement carries, in bytes.
const maxText = 200

// Validate refuses a statement that is incomplete, contradicts itself, or has an invalid guarantee.
func (s Statement) Validate() error {
	if s.Guarantee == nil {
		return errors.New("privacy: statement without a guarantee: give one of gdp, zcdp, pure, approx, geo, concentrated-geo")
	}
	if err := s.Guarantee.Validate(); err != nil {
		return err
	}
	if s.Unit == "" {
		return errors.New("privacy: statement without a unit: name what is protected, such as \"patient\"")
	}
	if err := checkText("unit", s.Unit); err != nil {
		return err
	}
	if err := checkText("distance", s.Distance); err != nil {
		return err
	}
	if !geo(s.Guarantee) {
		if !slices.Contains([]Adjacency{ReplaceOne, AddRemove, Local}, s.Adjacency) {
			return fmt.Errorf("privacy: adjacency %q is not known: use %q, %q or %q", string(s.Adjacency), ReplaceOne, AddRemove, Local)
		}
		if s.Metric != "" || s.Distance != "" {
			return fmt.Errorf("privacy: a %s statement has an adjacency, not a metric: leave metric and distance out", s.Guarantee.Definition())
		}
		return nil
	}
	if !slices.Contains([]Metric{RMS, L2}, s.Metric) {
		return fmt.Errorf("privacy: metric %q is not known: use %q or %q", string(s.Metric), RMS, L2)
	}
	if s.Adjacency != "" {
		return fmt.Errorf("privacy: a %s statement has a metric, not an adjacency: leave adjacency out", s.Guarantee.Definition())
	}
	return nil
}

func geo(g Guarantee) bool {
	switch g.(type) {
	case Geo, ConcentratedGeo:
		return true
	}
	return false
}

func checkText(name, s string) error {
	if len(s) > maxText {
		return fmt.Errorf("privacy: %s of %d bytes is too long: use at most %d", name, len(s), maxText)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) {
		return fmt.Errorf("privacy: %s %q has a control character or is not UTF-8: use plain text", name, s)
	}
	if strings.TrimSpace(s) != s {
		return fmt.Errorf("privacy: %s %q begins or ends with a space: remove it", name, s)
	}
	return nil
}

// String returns for instance "μ = 1 (GDP), replace-one patient".
func (s Statement) String() string {
	if s.Guarantee == nil {
		return "no guarantee"
	}
	if geo(s.Guarantee) {
		distance := string(s.Metric)
		if s.Distance != "" {
			distance += " in " + s.Distance
		}
		return fmt.Sprintf("%v, distance %s, %s", s.Guarantee, distance, s.Unit)
	}
	return fmt.Sprintf("%v, %s %s", s.Guarantee, s.Adjacency, s.Unit)
}
