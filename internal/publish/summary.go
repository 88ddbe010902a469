package publish

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Rows explains the guarantee of a release.
func Rows(r *release.Release, deltas []float64) []privacy.Row {
	if len(deltas) == 0 {
		deltas = []float64{1e-6}
	}
	if mu, err := r.GDP(); err == nil {
		if _, pure := r.Privacy.Guarantee.(privacy.Pure); !pure {
			return privacy.Explain(mu, deltas...)
		}
	}
	return privacy.Explain(r.Privacy.Guarantee, deltas...)
}

// labelWidth is that of "  components" and two spaces: all summaries look alike.
const labelWidth = 14

// Summary prints what a release is and guarantees, with ε at each δ (1e-6 without any).
func Summary(w io.Writer, r *release.Release, deltas ...float64) {
	t := Labelled(w)
	defer t.Flush()
	title := "private " + r.Verb
	if !r.Private {
		title = "NOT PRIVATE (seeded noise): " + r.Verb
	}
	of := fmt.Sprintf(" of n = %d", r.N)
	if r.Verb == release.Curve {
		of = ""
	}
	fmt.Fprintf(t, "%s%s, %s in %s\n", title, of, r.Method, SpaceWords(r))
	if len(r.Components) > 1 {
		fmt.Fprintf(t, "  components\t%s\n", strings.Join(r.Components, ", "))
	}
	guarantee := fmt.Sprint(r.Privacy)
	if r.Privacy.Adjacency == privacy.ReplaceOne {
		guarantee = fmt.Sprintf("%v per %s (%s: one %s's data replaced, n public)", r.Privacy.Guarantee, r.Privacy.Unit, r.Privacy.Adjacency, r.Privacy.Unit)
	}
	fmt.Fprintf(t, "  guarantee\t%s\n", guarantee)
	var words []string
	for _, row := range Rows(r, deltas) {
		name, at, _ := strings.Cut(row.Name, " at ")
		if at != "" {
			at = " at " + at
		}
		words = append(words, fmt.Sprintf("%s = %.4g%s", name, row.Value, at))
	}
	fmt.Fprintf(t, "  which is\t%s\n", strings.Join(words, ", "))
	if r.Radius > 0 {
		fmt.Fprintf(t, "  radius\t%.4g%s\n", r.Radius, RadiusUnit(r))
	}
	switch {
	case r.Reference != nil && r.Verb == release.Mean:
		fmt.Fprintf(t, "  center\t%s\n", CenterWords(r))
	case r.Verb == release.Regression:
		fmt.Fprintf(t, "  center\t%s: the curve began there and is still pulled toward it where people are few\n", CenterWords(r))
	}
	if s := r.Selection; s != nil {
		words := ""
		if s.Rank == 0 {
			words = ": nothing rose above the noise, and this is the uniform density"
		}
		fmt.Fprintf(t, "  rank\t%g, chosen by %s from the noisy coefficients%s\n", s.Rank, s.Rule, words)
	}
	if r.Box == nil {
		fmt.Fprintf(t, "  noise\t%s\n", noiseWords(r))
	}
	if caveat := r.BandCaveat(); caveat != "" {
		fmt.Fprintf(t, "  band\t%s\n", caveat)
	}
	if caveat := r.Caveat(); caveat != "" {
		fmt.Fprintf(t, "  values\t%s\n", caveat)
	}
	for _, remark := range r.Remarks() {
		fmt.Fprintf(t, "  REMARK\t%s\n", remark.Long)
	}
}

// CenterWords says around which public curve a release was made, "" for none.
func CenterWords(r *release.Release) string {
	if r.Reference == nil && r.Verb == release.Regression {
		return "0"
	}
	var words []string
	for k, ref := range r.Reference {
		word := "a public curve"
		if c, constant := ref.IsConstant(); constant {
			word = fmt.Sprintf("%g", c)
		}
		if len(r.Reference) > 1 {
			word += " for " + r.Components[k]
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// SpaceWords names a release's space and domain.
func SpaceWords(r *release.Release) string {
	space := fmt.Sprint(r.Space)
	if r.Box != nil {
		space = fmt.Sprint(r.Box)
	}
	var domains []string
	for _, d := range r.Domains() {
		if r.UnixTime {
			domains = append(domains, "["+clock.Short(d.A)+", "+clock.Short(d.B)+"]")
			continue
		}
		domains = append(domains, d.String())
	}
	return space + " on " + strings.Join(domains, " × ")
}

// RadiusUnit says what a radius is measured in.
func RadiusUnit(r *release.Release) string {
	unit := " root-mean-square from the center"
	if _, kernel := r.Space.(*space.KernelSpace); kernel {
		unit = " in the kernel space's norm, from the center"
	}
	if len(r.Components) > 1 {
		unit += ", over all components together"
	}
	return unit
}

// noiseWords says how large the privacy noise is, over the domain.
func noiseWords(r *release.Release) string {
	d := r.Space.Domain()
	low, high := math.Inf(1), 0.0
	const points = 201
	for i := range points {
		sd := r.NoiseSD(d.A + (d.B-d.A)*float64(i)/(points-1))
		low, high = min(low, sd), max(high, sd)
	}
	bound := ""
	if r.Verb == release.Regression {
		bound = " at most,"
	}
	rms := r.NoiseRMS()
	s := fmt.Sprintf("sd %.3g%s root-mean-square over the domain", rms, bound)
	if high > 1.01*low && r.Method != release.Denoised {
		s += fmt.Sprintf(" (%.3g to %.3g)", low, high)
	}
	if c := len(r.Components); c > 1 {
		s += fmt.Sprintf(" in each component, %.3g in all together", rms*math.Sqrt(float64(c)))
	}
	switch {
	case r.Raw != nil && r.Radius > 0:
		s += ", before the projection onto the ball reduced it"
	case r.Method == release.Denoised:
		s += ", before denoising reduced it"
	}
	return s
}

// SummaryJSON prints the same as JSON.
func SummaryJSON(w io.Writer, r *release.Release, deltas ...float64) error {
	type row struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
		Note  string  `json:"note"`
	}
	out := struct {
		Verb       string            `json:"verb"`
		Method     string            `json:"method"`
		N          int64             `json:"n"`
		Space      string            `json:"space"`
		Components []string          `json:"components"`
		Privacy    privacy.Statement `json:"privacy"`
		Equivalent []row             `json:"equivalent"`
		Radius     float64           `json:"radius"`
		Private    bool              `json:"private"`
		Band       string            `json:"band,omitempty"`   // what a band holds, and what not
		Values     string            `json:"values,omitempty"` // what to know of the values
		Remarks    []string          `json:"remarks,omitempty"`
	}{Verb: r.Verb, Method: r.Method, N: r.N, Space: SpaceWords(r),
		Components: r.Components, Privacy: r.Privacy, Radius: r.Radius, Private: r.Private, Band: r.BandCaveat(), Values: r.Caveat()}
	for _, remark := range r.Remarks() {
		out.Remarks = append(out.Remarks, remark.Long)
	}
	for _, x := range Rows(r, deltas) {
		if !math.IsInf(x.Value, 0) {
			out.Equivalent = append(out.Equivalent, row(x))
		}
	}
	return JSON(w, out)
}

// Table aligns columns.
func Table(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// Labelled is a Table whose first column is as wide as that of all summaries.
func Labelled(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, labelWidth, 0, 2, ' ', 0) }

// Label writes the beginning of a line of a summary.
func Label(w io.Writer, name string) { fmt.Fprintf(w, "  %-*s", labelWidth-2, name) }

// JSON prints any value for people and programs.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Remarks prints warnings, from flags.MeanRemarks and the like.
func Remarks(w io.Writer, lines ...string) {
	for _, line := range lines {
		fmt.Fprintf(w, "curveil: WARNING: %s\n", line)
	}
}
