package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/plot"
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
		Use:   "report RELEASE… -o PAGE.html",
		Short: "One self-contained page for the people who receive a release",
		Long: `Writes one HTML file with the picture (values under the pointer), the guarantee in
plain words and in symbols, the parameters, a table of values and the release itself, one
after the other for several releases. It needs no network and holds nothing beyond the
releases.`,
		Example: `  curveil report growth.json -o growth.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("report takes one release or more")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasSuffix(strings.ToLower(out), ".html") {
				return usagef("-o PAGE.html is needed, a name that ends in .html")
			}
			page := reportPages{Title: "Private releases"}
			data := make([]any, len(args))
			for i, name := range args {
				r, err := readRelease(name)
				if err != nil {
					return err
				}
				d, err := newReport(r)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				d.Index, data[i] = i, d.data
				page.Reports = append(page.Reports, d)
			}
			if len(args) == 1 {
				page.Title = page.Reports[0].Title
			}
			// JSON inside a script: Marshal escapes <, > and &, so that no name can end it.
			code, err := json.Marshal(data)
			if err != nil {
				return err
			}
			page.Data = template.JS(code)
			return publish.FileWith(out, func(w io.Writer) error { return reportTemplate.Execute(w, page) })
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "page to write (.html)")
	return cmd
}

// reportPages is what the template shows: a section for each release.
type reportPages struct {
	Title   string
	Reports []*reportData
	Data    template.JS
}

type reportData struct {
	Index                 int
	Title, Lead, Legend   string
	Accuracy              string // of a curve
	Private               bool
	Panels                []reportPanel
	Words                 []string
	Remarks               []string // what the release shows to be doubtful
	Guarantee, Parameters []reportRow
	Table, Eval, Release  string
	data                  any // of its pictures
}

// reportPanel is a picture: of the component of the index, or of the path of a track in the plane.
type reportPanel struct {
	Index int
	Name  string
}

const reportPath = -1

type reportRow struct{ Name, Value string }

// reportPoints is the number of points a curve is drawn through, and of cells on
// each axis of a heat map.
const reportPoints, reportTrack, reportCells = 301, 1201, 120

func newReport(r *release.Release) (*reportData, error) {
	text, err := publish.Encode(r)
	if err != nil {
		return nil, err
	}
	domain := r.Domains()[0]
	d := &reportData{
		Title:   fmt.Sprintf("A private %s", r.Verb),
		Private: r.Private, Release: string(text),
		Eval: "curveil eval release.json --at " + strconv.FormatFloat((domain.A+domain.B)/2, 'f', -1, 64),
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
	if r.UnixTime {
		d.Eval = "curveil eval release.json --at " + clock.Text(math.Round((domain.A+domain.B)/2))
		d.Parameters = append(d.Parameters, reportRow{"times", fmt.Sprintf("%s to %s", clock.Text(domain.A), clock.Text(domain.B))})
	}
	if r.Radius > 0 {
		d.Parameters = append(d.Parameters, reportRow{"radius", fmt.Sprintf("%.4g%s", r.Radius, publish.RadiusUnit(r))})
	}
	if center := publish.CenterWords(r); center != "" {
		d.Parameters = append(d.Parameters, reportRow{"center", center})
	}
	if r.Box == nil {
		err = d.curves(r)
	} else {
		d.Eval = "curveil plot release.json -o picture.png"
		err = d.heat(r)
	}
	d.Words = plainWords(r)
	for _, remark := range r.Remarks() {
		d.Remarks = append(d.Remarks, strings.ToUpper(remark.Long[:1])+remark.Long[1:])
	}
	d.Accuracy = accuracy(r)
	return d, err
}

// accuracy says of a curve how near it is to its owner's, as far as the release knows: of a cohort's that is in the legend.
func accuracy(r *release.Release) string {
	if r.Verb != release.Curve {
		return ""
	}
	unit := r.Privacy.Distance
	if unit != "" {
		unit = " " + unit
	}
	together := ""
	if len(r.Components) > 1 {
		together = ", all components together"
	}
	rms := r.NoiseRMS() * math.Sqrt(float64(len(r.Components)))
	if r.Method == release.Denoised {
		return fmt.Sprintf("The release does not know its own error. Noise of %.3g%s root-mean-square was added%s, and most of it was smoothed away again, with it detail of the curve that the noise hid. What error is left depends on how rough the curve was, which nobody but its owner knows: the rougher, the more.", rms, unit, together)
	}
	return fmt.Sprintf("Noise of %.3g%s root-mean-square was added%s. Detail that the functions cannot follow is lost besides, and the release does not know how much that is.", rms, unit, together)
}

func (d *reportData) curves(r *release.Release) error {
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
	n := reportPoints
	track := r.Verb == release.Curve && slices.Equal(r.Components, []string{"east", "north"})
	if r.Verb == release.Curve {
		n = reportTrack
	}
	if track {
		d.Panels = append(d.Panels, reportPanel{reportPath, "the track"})
	}
	ts := space.Uniform(domain.A, domain.B, n).T
	points, err := evaluate(r, ts, 0.95, false, nil)
	if err != nil {
		return err
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
			return err
		}
		d.Legend = "Line: what was released. Dark band: what would have been released without privacy noise lies inside with 95 % probability at each place; pale band: with 95 % all along. A band here is " + r.BandCaveat() + "."
		for k := range panels {
			panels[k].WideLow, panels[k].WideHigh = lo[k], hi[k]
		}
	}
	name := "t"
	if r.XLabel != "" {
		name = r.XLabel
	}
	unit := ""
	if track {
		unit = "m"
	}
	d.Table = fmt.Sprintf("%d places, straight lines in between", n)
	d.data = map[string]any{"t": ts, "panels": panels, "x_label": r.XLabel, "x_name": name, "unit": unit, "unix": r.UnixTime}
	return nil
}

func (d *reportData) heat(r *release.Release) error {
	box := r.Domains()
	if len(box) != 2 || r.Verb != release.Density {
		return fmt.Errorf("a page shows functions of one variable and densities of two; this is a %s of %d variables: use 'curveil plot'", r.Verb, len(box))
	}
	t, err := density.Of(r, reportCells, reportCells)
	if err != nil {
		return err
	}
	step := slices.Max(t.Density) / 1e4 // colours show no more
	for i, v := range t.Density {
		if step > 0 {
			t.Density[i], _ = strconv.ParseFloat(strconv.FormatFloat(math.Round(v/step)*step, 'g', 5, 64), 64)
		}
	}
	names := t.Names
	if names == nil {
		names = []string{"x", "y"}
	}
	d.Panels = []reportPanel{{0, "density, per unit of area"}}
	d.Table = fmt.Sprintf("the density at %d × %d places", reportCells, reportCells)
	d.Legend = "Colours: the nearest density to what was released that is nowhere negative. Ripples beside a sharp peak are what becomes of it when only smooth functions are published, and nobody need be there; faint ones may be noise."
	var sum float64
	for _, v := range t.Density {
		sum += v
	}
	root := plot.Peaky(slices.Max(t.Density), sum/float64(len(t.Density)))
	if root {
		d.Legend += " The colours go by the square root of the density, so that more than its peaks is seen."
	}
	d.data = map[string]any{"grid": map[string]any{
		"root": root, "aspect": plot.TrueAspect(r), "cells": t.Cells, "values": t.Density, "names": names,
		"x": []float64{box[0].A, box[0].B}, "y": []float64{box[1].A, box[1].B},
	}}
	return nil
}

// toldApart says at which distances somebody guesses right which of two curves was released, in at most 60 and 95 % of
// the cases: e^x/(1+e^x) at x = ε·distance, and Φ(distance·√(2ρ)/2).
func toldApart(s privacy.Statement) string {
	distance := func(p float64) float64 {
		if rho, ok := s.Guarantee.(privacy.ConcentratedGeo); ok {
			return 2 * math.Sqrt2 * math.Erfinv(2*p-1) / math.Sqrt(2*float64(rho))
		}
		epsilon, _ := s.Guarantee.(privacy.Geo)
		return math.Log(p/(1-p)) / float64(epsilon)
	}
	measured := "the root mean square of what is between them, over the window"
	if s.Metric == privacy.L2 {
		measured = "the root of the integral of its square over the window"
	}
	unit := ""
	if s.Distance != "" {
		unit = " " + s.Distance
	}
	return fmt.Sprintf("Somebody who must guess which of two %ss, both equally likely, was behind the release is right with probability at most 60 %% if they are %.3g%s apart, and 95 %% if %.3g%s; apart means %s.",
		s.Unit, distance(0.6), unit, distance(0.95), unit, measured)
}

// plainWords says what the guarantee means to somebody who is in the data.
func plainWords(r *release.Release) []string {
	unit := r.Privacy.Unit
	switch g := r.Privacy.Guarantee.(type) {
	case privacy.Geo, privacy.ConcentratedGeo:
		return []string{
			fmt.Sprintf("The %s was changed on its owner's device before it left it: two %ss that are near each other give nearly the same releases, and the farther apart they are the better they can be told apart. Budget: %v.", unit, unit, g),
			toldApart(r.Privacy),
			"Not protected: the window of time, that a release was made, and whatever is told apart at the distances above.",
		}
	}
	right := func(who string) []string {
		mu, err := r.GDP()
		if err != nil {
			return nil
		}
		return []string{fmt.Sprintf("%s, and must guess between two possible values of one %s, both equally likely, is right with probability at most %.0f %%, where 50 %% is blind guessing.", who, unit, 100*(0.5+0.5*math.Erf(float64(mu)/2/math.Sqrt2)))}
	}
	var words []string
	if r.Verb == release.Regression {
		words = append(words, fmt.Sprintf("Each report was changed on the %s's own device before it left it. Had the data behind it been anything else, the report would have been nearly as likely: not even the server that collects the reports can tell. Stated: %v per report.", unit, r.Privacy.Guarantee))
		words = append(words, right("Somebody who sees the report")...)
		return append(words, fmt.Sprintf("Not protected: that a %s sent a report, and what the whole group is like, which is the purpose of the release.", unit))
	}
	words = append(words, fmt.Sprintf("Had one %s's data been anything else, what was published would have been nearly as likely: the difference that one %s can make is bounded, whatever else somebody knows. Stated: %v per %s.", unit, unit, r.Privacy.Guarantee, unit))
	words = append(words, right("Somebody who knows everybody else's data")...)
	return append(words, fmt.Sprintf("Not protected: that a %s took part, and what the whole group is like, which is the purpose of the release.", unit))
}
