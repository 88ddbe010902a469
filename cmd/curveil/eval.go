package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

func evalCommand() *cobra.Command {
	var at, zoneName string
	var level float64
	var simultaneous, nonnegative, asJSON bool
	cmd := &cobra.Command{
		Use:   "eval RELEASE",
		Short: "Values of a release, with bands of the privacy noise, as CSV",
		Long: `Prints the values of a released function, with bands of its privacy noise. A released density is
a smooth function and noise: it may be negative where few people are. --nonnegative prints the nearest
density that is nowhere negative and has mass one, as pictures show it and 'sample' draws from; it has no
band.`,
		Example: `  curveil eval growth.json --at 2,5,10
  curveil eval growth.json --at 1:18:35 --level 0.99 --simultaneous`,
		Args: exactArgs(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkLevel(level); err != nil {
				return err
			}
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			var proper *density.Table
			if nonnegative {
				if r.Verb != release.Density {
					return usagef("--nonnegative is for a density; this is a %s", r.Verb)
				}
				if proper, err = density.Of(r); err != nil {
					return err
				}
			}
			noteBand(cmd.ErrOrStderr(), r, !nonnegative)
			if r.Box != nil {
				return evalBox(cmd, r, proper, at, level, asJSON)
			}
			zone, err := flags.Zone(zoneName)
			if err != nil {
				return err
			}
			ts := space.Uniform(r.Space.Domain().A, r.Space.Domain().B, 21).T
			if at != "" {
				if ts, err = flags.TimeGrid("--at", at, zone, r.UnixTime); err != nil {
					return err
				}
			}
			points, err := evaluate(r, ts, level, simultaneous, zone)
			if err != nil {
				return usageError{err}
			}
			least := math.Inf(1)
			for i, p := range points {
				if proper != nil {
					points[i].Value[0], points[i].Low, points[i].High = proper.At([]float64{p.T}), nil, nil
				}
				least = min(least, points[i].Value[0])
			}
			noteNegative(cmd.ErrOrStderr(), r, least)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), points)
			}
			return writePoints(cmd.OutOrStdout(), r, points)
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "times t1,t2,… or a:b:count, or dates, or FROM/TO/count (default: 21 over the domain); for several variables points x,y;x,y;… (default: a grid over the box)")
	cmd.Flags().StringVar(&zoneName, "zone", "", "time zone of dates that state none, such as UTC or Europe/Berlin, and of those printed (default: UTC is printed)")
	cmd.Flags().Float64Var(&level, "level", 0.95, "level of the band, which covers the privacy noise only")
	cmd.Flags().BoolVar(&simultaneous, "simultaneous", false, "band that covers all times and components at once")
	cmd.Flags().BoolVar(&nonnegative, "nonnegative", false, "of a density: the nearest one that is nowhere negative, without a band")
	addJSON(cmd, &asJSON)
	return cmd
}

// noteNegative explains values that no density has.
func noteNegative(w io.Writer, r *release.Release, least float64) {
	if r.Verb == release.Density && least < 0 {
		fmt.Fprintf(w, "curveil: negative values: what was released is %s; --nonnegative gives the nearest proper density\n", r.Caveat())
	}
}

// noteBand says what a band holds, where a reader might take it for more or less, and what the release shows to be doubtful.
func noteBand(w io.Writer, r *release.Release, banded bool) {
	if caveat := r.BandCaveat(); banded && caveat != "" {
		fmt.Fprintf(w, "curveil: the band is %s\n", caveat)
	}
	for _, remark := range r.Remarks() {
		fmt.Fprintf(w, "curveil: REMARK: %s\n", remark.Long)
	}
}

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return usagef("--level %g must lie between 0 and 1, such as 0.95", level)
	}
	return nil
}

// point is a release at one time; one entry per component.
type point struct {
	T     float64   `json:"t"`
	Time  string    `json:"time,omitempty"` // t as a date, where it counts seconds since 1970
	Value []float64 `json:"value"`
	Low   []float64 `json:"low,omitempty"` // nil for a denoised curve, which has no band
	High  []float64 `json:"high,omitempty"`
}

func evaluate(r *release.Release, ts []float64, level float64, simultaneous bool, zone *time.Location) ([]point, error) {
	var lo, hi [][]float64
	banded := r.Method != release.Denoised
	if banded {
		var err error
		if lo, hi, err = r.Bands(ts, level, simultaneous); err != nil {
			return nil, err
		}
	}
	out := make([]point, len(ts))
	for j, t := range ts {
		p := point{T: t, Value: make([]float64, len(r.Components))}
		if err := r.Eval(p.Value, t); err != nil {
			return nil, err
		}
		if r.UnixTime {
			p.Time = clock.Stamp(t, zone)
		}
		for k := 0; banded && k < len(r.Components); k++ {
			p.Low, p.High = append(p.Low, lo[k][j]), append(p.High, hi[k][j])
		}
		out[j] = p
	}
	return out, nil
}

func writePoints(w io.Writer, r *release.Release, points []point) error {
	c, components := csv.NewWriter(w), r.Components
	head := []string{"t"}
	for _, name := range components {
		head = append(head, name)
		if points[0].Low != nil {
			head = append(head, name+"_low", name+"_high")
		}
	}
	rows := [][]string{head}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 7, 64) }
	for _, p := range points {
		row := []string{strconv.FormatFloat(p.T, 'g', -1, 64)}
		if p.Time != "" {
			row[0] = p.Time
		}
		for k := range components {
			row = append(row, text(p.Value[k]))
			if p.Low != nil {
				row = append(row, text(p.Low[k]), text(p.High[k]))
			}
		}
		rows = append(rows, row)
	}
	return c.WriteAll(rows)
}

// defaultPoints is the number of points on each axis where no --at names them, by the number of variables.
var defaultPoints = []int{0, 21, 21, 7, 5}

// boxPoints are the points x,y;x,y;… of a text, or a grid over the box.
func boxPoints(box []space.Interval, at string) (points [][]float64, err error) {
	if at != "" {
		for _, text := range strings.Split(at, ";") {
			x, err := flags.List("--at", text)
			if err != nil {
				return nil, err
			}
			if len(x) != len(box) {
				return nil, usagef("--at %q has %s, want %d: points x,y;x,y;…", text, plural(int64(len(x)), "coordinate"), len(box))
			}
			points = append(points, x)
		}
		return points, nil
	}
	points = [][]float64{nil}
	for _, side := range box {
		var longer [][]float64
		for _, x := range points {
			for _, v := range space.Uniform(side.A, side.B, defaultPoints[len(box)]).T {
				longer = append(longer, append(slices.Clone(x), v))
			}
		}
		points = longer
	}
	return points, nil
}

// evalBox evaluates a function of several variables at points x,y;x,y;….
func evalBox(cmd *cobra.Command, r *release.Release, proper *density.Table, at string, level float64, asJSON bool) error {
	points, err := boxPoints(r.Domains(), at)
	if err != nil {
		return err
	}
	type value struct {
		X     []float64 `json:"x"`
		Value float64   `json:"value"`
		Low   *float64  `json:"low,omitempty"`
		High  *float64  `json:"high,omitempty"`
	}
	var out []value
	least := math.Inf(1)
	for _, x := range points {
		v := value{X: x, Value: r.AtPoint(x)}
		if math.IsNaN(v.Value) {
			return usagef("--at: %v lies outside the box %s", x, publish.SpaceWords(r))
		}
		if proper != nil {
			v.Value = proper.At(x)
		} else {
			low, high := r.BandAtPoint(x, level)
			v.Low, v.High = &low, &high
		}
		least = min(least, v.Value)
		out = append(out, v)
	}
	noteNegative(cmd.ErrOrStderr(), r, least)
	if asJSON {
		return printJSON(cmd.OutOrStdout(), out)
	}
	t := csv.NewWriter(cmd.OutOrStdout())
	head := r.Variables
	if head == nil {
		head = []string{"x", "y", "z", "w"}[:len(r.Domains())]
	}
	name := r.Components[0]
	head = append(slices.Clone(head), name)
	if proper == nil {
		head = append(head, name+"_low", name+"_high")
	}
	rows := [][]string{head}
	for _, v := range out {
		var row []string
		values := append(slices.Clone(v.X), v.Value)
		if v.Low != nil {
			values = append(values, *v.Low, *v.High)
		}
		for _, u := range values {
			row = append(row, strconv.FormatFloat(u, 'g', 7, 64))
		}
		rows = append(rows, row)
	}
	return t.WriteAll(rows)
}

func plotCommand() *cobra.Command {
	var out string
	var level float64
	cmd := &cobra.Command{
		Use:     "plot RELEASE -o PICTURE",
		Short:   "Picture of a release with its bands",
		Example: `  curveil plot growth.json -o growth.svg`,
		Args:    exactArgs(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("-o PICTURE is needed, a name that ends in .svg, .png or .pdf")
			}
			if err := plot.CheckPath(out); err != nil {
				return usageError{err}
			}
			if err := checkLevel(level); err != nil {
				return err
			}
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			return publish.Picture(out, r, plot.Options{Level: level})
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "picture to write (.svg, .png, .pdf)")
	cmd.Flags().Float64Var(&level, "level", 0.95, "level of the bands")
	return cmd
}
