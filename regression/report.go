package regression

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// ID names a report, so that repeats of it are applied once. The client draws it.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

func newID(src *noise.Source) (id ID) {
	for i := range id {
		if i%8 == 0 {
			w := src.Uint64()
			for j := range 8 {
				id[i+j] = byte(w >> (8 * j))
			}
		}
	}
	return id
}

// Report is all that leaves a person's device: a noisy gradient. Everything in it is private or public.
type Report struct {
	ID     ID
	Stream Fingerprint
	// At is the version of the model that the gradient was taken at.
	At int64
	// Budget is (ε,δ) of this report.
	Budget privacy.Approx
	// Private is false when the noise came from a seeded source: a demonstration, which anybody can undo.
	Private bool
	// Coordinates are those of the noisy gradient, in steps of the lattice of the ball of radius τB.
	Coordinates []int64
}

// MarshalJSON writes {"curveil":"regression-report","version":1,"id":"…","stream":"…","at":n,"epsilon":ε,"delta":δ,
// "private":true,"coordinates":[…]}, always in this order: a retry sends the same bytes.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Curveil     string  `json:"curveil"`
		Version     int     `json:"version"`
		ID          string  `json:"id"`
		Stream      string  `json:"stream"`
		At          int64   `json:"at"`
		Epsilon     float64 `json:"epsilon"`
		Delta       float64 `json:"delta"`
		Private     bool    `json:"private"`
		Coordinates []int64 `json:"coordinates"`
	}{reportName, formatVersion, r.ID.String(), r.Stream.String(), r.At, r.Budget.Epsilon, r.Budget.Delta, r.Private, r.Coordinates})
}

// UnmarshalJSON reads what MarshalJSON writes, strictly: whole numbers for coordinates, no field unknown, missing, repeated or
// null. Whether the report fits a stream is for [Server.Check].
func (r *Report) UnmarshalJSON(data []byte) error {
	o, err := readFormat(reportName, data)
	if err != nil {
		return err
	}
	var out Report
	if err := takeHex(o, "id", out.ID[:]); err != nil {
		return err
	}
	if err := takeHex(o, "stream", out.Stream[:]); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"at", &out.At}, {"epsilon", &out.Budget.Epsilon}, {"delta", &out.Budget.Delta}, {"private", &out.Private}} {
		if err := o.Take(f.name, f.to); err != nil {
			return err
		}
	}
	if err := o.TakeList("coordinates", &out.Coordinates, maxDim); err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	if out.At < 0 {
		return fmt.Errorf("regression: report refers to version %d of the model: versions begin with 0", out.At)
	}
	if err := out.Budget.Validate(); err != nil {
		return fmt.Errorf("regression: report: %w", err)
	}
	*r = out
	return nil
}

func takeHex(o *strictjson.Object, name string, to []byte) error {
	var text string
	if err := o.Take(name, &text); err != nil {
		return err
	}
	if len(text) != 2*len(to) || text != lower(text) {
		return fmt.Errorf("regression: %s %q must be %d lower-case hexadecimal digits", name, clip(text), 2*len(to))
	}
	if _, err := hex.Decode(to, []byte(text)); err != nil {
		return fmt.Errorf("regression: %s %q must be %d lower-case hexadecimal digits", name, clip(text), 2*len(to))
	}
	return nil
}

func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'F' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
