package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

//go:embed page/report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

func reportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RELEASE -o PAGE.html",
		Short: "One self-contained page for the people who receive a release",
		Long: `Writes one HTML file with the picture (values under the pointer), the guarantee in
plain words and in symbols, the parameters, and the release itself. It needs no network
and holds nothing beyond the release.`,
		Example: `  curveil report growth.json -o growth.html`,
		Args:    exactArgs(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(strings.ToLower(out), ".html") {
				return usagef("-o PAGE.html is needed, a name that ends in .html")
			}
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			page, err := newReport(r)
			if err != nil {
				return err
			}
			return publish.FileWith(out, func(w io.Writer) error { return reportTemplate.Execute(w, page) })
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "page to write (.html)")
	return cmd
}

// reportData is what the template shows.
type reportData struct {
	Title, Lead           string
	Private               bool
	Panels                []reportPanel
	Words                 []string
	Guarantee, Parameters []reportRow
	Eval, Release         string
	Data                  template.JS
}

type reportPanel struct {
	Index int
	Name  string
}

type reportRow struct{ Name, Value string }

// reportPoints is the number of points a curve is drawn through, and of cells on
// each axis of a heat map.
const reportPoints, reportCells = 301, 120

func newReport(r *release.Release) (*reportData, error) {
	text, err := publish.Encode(r)
	if err != nil {
		return nil, err
	}
	d := &reportData{
		Title:   fmt.Sprintf("A private %s", r.Verb),
		Private: r.Private, Release: string(text), Words: plainWords(r),
		Eval: "curveil eval release.json --at " + fmt.Sprintf("%g", (r.Domains()[0].A+r.Domains()[0].B)/2),
	}
	of := ""
	if r.Verb != release.Curve {
		of = fmt.Sprintf(" of n = %d (each a %s)", r.N, r.Privacy.Unit)
	}
	d.Lead = fmt.Sprintf("This %s%s was made with a privacy guarantee. What you see is all that was published.", r.Verb, of)
	for _, row := range publish.Rows(r, []float64{1e-6, 1e-9}) {
		d.Guarantee = append(d.Guarantee, reportRow{row.Name, fmt.Sprintf("%.4g", row.Value)})
	}
	d.Parameters = []reportRow{{"method", r.Method}, {"functions", publish.SpaceWords(r)}, {"noise", r.Noise.Law}}
	if r.Radius > 0 {
		d.Parameters = append(d.Parameters, reportRow{"radius", fmt.Sprintf("%.4g%s", r.Radius, publish.RadiusUnit(r))})
	}
	var data any
	if r.Box == nil {
		data, err = d.curves(r)
	} else {
		d.Eval = "curveil plot release.json -o picture.png"
		data, err = d.heat(r)
	}
	if err != nil {
		return nil, err
	}
	// JSON inside a script: Marshal escapes <, > and &, so that no name can end it.
	code, err := json.Marshal(data)
	d.Data = template.JS(code)
	return d, err
}

func (d *reportData) curves(r *release.Release) (any, error) {
	type panel struct {
		Name     string    `json:"name"`
		Label    string    `json:"label"`
		Value    []float64 `json:"value"`
		Low      []float64 `json:"low,omitempty"`
		High     []float64 `json:"high,omitempty"`
		WideLow  []float64 `json:"wide_low,omitempty"`
		WideHigh []float64 `json:"wide_high,omitempty"`
	}
	domain := r.Domains()[0]
	ts := space.Uniform(domain.A, domain.B, reportPoints).T
	points, err := evaluate(r, ts, 0.95, false)
	if err != nil {
		return nil, err
	}
	panels := make([]panel, len(r.Components))
	for k, name := range r.Components {
		p := &panels[k]
		p.Name, p.Label = name, name
		if len(r.Components) == 1 && r.YLabel != "" {
			p.Label = r.YLabel
		}
		for _, at := range points {
			p.Value = append(p.Value, at.Value[k])
			if at.Low != nil {
				p.Low, p.High = append(p.Low, at.Low[k]), append(p.High, at.High[k])
			}
		}
		d.Panels = append(d.Panels, reportPanel{k, name})
	}
	if points[0].Low != nil {
		lo, hi, err := r.Bands(ts, 0.95, true)
		if err != nil {
			return nil, err
		}
		for k := range panels {
			panels[k].WideLow, panels[k].WideHigh = lo[k], hi[k]
		}
	}
	name := "t"
	if r.XLabel != "" {
		name = r.XLabel
	}
	return map[string]any{"t": ts, "panels": panels, "x_label": r.XLabel, "x_name": name}, nil
}

func (d *reportData) heat(r *release.Release) (any, error) {
	box := r.Domains()
	if len(box) != 2 || r.Verb != release.Density {
		return nil, fmt.Errorf("a page shows functions of one variable and densities of two; this is a %s of %d variables: use 'curveil plot'", r.Verb, len(box))
	}
	t, err := density.Of(r, reportCells, reportCells)
	if err != nil {
		return nil, err
	}
	for i, v := range t.Density {
		t.Density[i] = math.Round(v*1e6) / 1e6
	}
	names := t.Names
	if names == nil {
		names = []string{"x", "y"}
	}
	d.Panels = []reportPanel{{0, "density, per unit of area"}}
	return map[string]any{"grid": map[string]any{
		"cells": t.Cells, "values": t.Density, "names": names,
		"x": []float64{box[0].A, box[0].B}, "y": []float64{box[1].A, box[1].B},
	}}, nil
}

// plainWords says what the guarantee means to somebody who is in the data.
func plainWords(r *release.Release) []string {
	unit := r.Privacy.Unit
	switch g := r.Privacy.Guarantee.(type) {
	case privacy.Geo, privacy.ConcentratedGeo:
		return []string{
			fmt.Sprintf("The %s was changed on its owner's device before it left it: two %ss that are near each other give nearly the same releases, and the farther apart they are the better they can be told apart. Budget: %v.", unit, unit, g),
			"Not protected: the window of time, and that a release was made.",
		}
	default:
		words := []string{fmt.Sprintf("Had one %s's data been anything else, what was published would have been nearly as likely: the difference that one %s can make is bounded, whatever else somebody knows. Stated: %v per %s.", unit, unit, g, unit)}
		if mu, err := r.GDP(); err == nil {
			right := 100 * (0.5 + 0.5*math.Erf(float64(mu)/2/math.Sqrt2))
			words = append(words, fmt.Sprintf("Somebody who knows everybody else's data, and must guess between two possible values of one %s, both equally likely, is right with probability at most %.0f %%, where 50 %% is blind guessing.", unit, right))
		}
		return append(words, fmt.Sprintf("Not protected: that a %s took part, and what the whole group is like, which is the purpose of the release. The band shows the privacy noise only.", unit))
	}
}
