package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// curveFlags are the public parameters of a person's own curve.
type curveFlags struct {
	epsilon, rho, beta, roughness, size float64
	window, metric, method, space       string
	polynomials, level                  int
	continuous                          bool
}

func (c *curveFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&c.epsilon, "epsilon", 0, "budget: ε of geo-privacy, per unit of the metric")
	f.Float64Var(&c.rho, "rho", 0, "budget: ρ of concentrated geo-privacy, per squared unit of the metric")
	f.StringVar(&c.window, "window", "", "public window of time A:B, in seconds or the units of t, or two dates FROM/TO such as 2008-05-17T21:00:00Z/2008-05-18T09:00:00Z")
	f.StringVar(&c.metric, "metric", "rms", "distance between curves: rms (root-mean-square over the window, in the values' units) or l2 (the paper's: times the root of the window)")
	f.StringVar(&c.method, "method", "auto", "auto, denoise, segment, select or project")
	f.StringVar(&c.space, "space", "", "space for project and select, such as fourier:9 (default: Legendre)")
	f.IntVar(&c.polynomials, "polynomials", 0, "segment: polynomials per piece (default 2)")
	f.IntVar(&c.level, "max-level", 0, "segment, denoise: at most 2^level pieces (default 10)")
	f.Float64Var(&c.beta, "beta", 0, "segment: failure probability of its checks (default 0.1)")
	f.BoolVar(&c.continuous, "continuous", false, "segment, project: the nearest continuous function")
	f.Float64Var(&c.size, "size", 0, "public guess of the root-mean-square size of the curve about a public place, all components together: tells whether any shape survives")
	f.Float64Var(&c.roughness, "roughness", 0, "public guess of how far the curve moves in 1/64 of the window, root-mean-square in each component, in the values' units: estimates the error, and with --epsilon saves denoise the eighth of the budget that finding out costs")
}

func (c *curveFlags) guarantee(f *pflag.FlagSet) (privacy.Guarantee, error) {
	var g privacy.Guarantee
	switch eps, rho := f.Changed("epsilon"), f.Changed("rho"); {
	case eps == rho:
		return nil, usagef("state one budget: --epsilon E (geo-privacy) or --rho R (concentrated geo-privacy); 'curveil plan curve' says what it means in metres and minutes")
	case eps:
		g = privacy.Geo(c.epsilon)
	default:
		g = privacy.ConcentratedGeo(c.rho)
	}
	if err := g.Validate(); err != nil {
		return nil, usageError{err}
	}
	return g, nil
}

// config reads the flags; zone is that of dates without an offset.
func (c *curveFlags) config(f *pflag.FlagSet, zone *time.Location) (curve.Config, error) {
	g, err := c.guarantee(f)
	if err != nil {
		return curve.Config{}, err
	}
	if c.window == "" {
		return curve.Config{}, usagef("--window is needed: the public range of time that the release covers")
	}
	w, dated, err := flags.TimeDomain("--window", c.window, zone)
	if err != nil {
		return curve.Config{}, err
	}
	out := curve.Config{
		Window: w, UnixTime: dated, Guarantee: g, Metric: privacy.Metric(c.metric), Method: curve.Method(c.method),
		Polynomials: c.polynomials, MaxLevel: c.level, Beta: c.beta, Continuous: c.continuous, Roughness: c.roughness,
	}
	if c.space != "" {
		if out.Space, err = space.Parse(c.space, w); err != nil {
			return out, usagef("--space: %w", err)
		}
	}
	return out, nil
}

// trackFlags say how to read and write tracks and signals.
type trackFlags struct {
	in                  flags.Input
	o                   dataset.TrackOptions
	origin, box, action string
	format              string
	every, maxSpeed     float64
}

func (t *trackFlags) register(f *pflag.FlagSet) {
	f.Float64Var(&t.every, "every", 0, "public step of the output's times")
	f.Float64Var(&t.o.MaxGap, "max-gap", 0, "longest time without a sample that may be bridged by a straight line; inf allows any")
	f.StringVar(&t.origin, "origin", "", "public origin LAT,LON of the plane in which metres are measured, for tracks on the ground")
	f.StringVar(&t.box, "box", "", "public box SOUTH,WEST,NORTH,EAST in degrees where all points must lie")
	f.Float64Var(&t.maxSpeed, "max-speed", 0, "public bound on the speed, in metres a second")
	f.StringVar(&t.action, "outside", "refuse", "what becomes of points outside the box or too fast: refuse, drop or clip")
	f.StringVar(&t.format, "format", "", "format of the input: gpx, geojson, csv, parquet or wfdb (default: by the name)")
	f.BoolVar(&t.o.Milliseconds, "milliseconds", false, "numbers for times in GeoJSON are milliseconds")
	f.StringVar(&t.in.O.ID, "id", "", "column that tells tracks apart in a table")
	f.StringVar(&t.in.O.Time, "time", "", "time column of a table")
	f.StringSliceVar(&t.in.O.Values, "values", nil, "value columns of a table, or signals of a WFDB record")
	f.StringSliceVar(&t.in.O.Ignore, "ignore", nil, "columns not to read")
	f.StringVar(&t.in.Separator, "separator", "", "field separator of a CSV file (default: seen from the file)")
	f.StringVar(&t.in.Decimal, "decimal", "", "decimal sign of a CSV file, . or , (default: seen from the file)")
	f.StringVar(&t.in.Zone, "zone", "", "time zone of time stamps that state none")
}

func (t *trackFlags) options(window space.Interval) (dataset.TrackOptions, error) {
	o := t.o
	var err error
	if o.Options, err = t.in.Options(); err != nil {
		return o, err
	}
	o.Window, o.Format, o.MaxSpeed, o.Outside = &window, dataset.Format(t.format), t.maxSpeed, dataset.Action(t.action)
	if !(o.MaxGap > 0) {
		return o, usagef("--max-gap is needed: how long a time without a sample may be bridged by a straight line (600 for ten minutes, inf for any)")
	}
	if t.box != "" {
		v, err := flags.List("--box", t.box)
		if err != nil || len(v) != 4 {
			return o, usagef("--box %q: write SOUTH,WEST,NORTH,EAST in degrees", t.box)
		}
		o.Box = &dataset.Box{South: v[0], West: v[1], North: v[2], East: v[3]}
	}
	return o, nil
}

func (t *trackFlags) grid(window space.Interval) ([]float64, error) {
	if !(t.every > 0) || math.IsInf(t.every, 0) {
		return nil, usagef("--every is needed: the public step of the output's times, such as 60")
	}
	n := int(math.Floor(window.Length()/t.every*(1+1e-12))) + 1
	if n < 2 || n > 10_000_000 {
		return nil, usagef("--every %g gives %d times in the window: at least 2 and at most 10 million", t.every, n)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = min(window.A+float64(i)*t.every, window.B)
	}
	return out, nil
}

func (t *trackFlags) projection() (*dataset.Projection, error) {
	if t.origin == "" {
		return nil, usagef("--origin LAT,LON is needed for tracks on the ground: a public place near them, such as the centre of the city; not computed from the track")
	}
	v, err := flags.List("--origin", t.origin)
	if err != nil || len(v) != 2 {
		return nil, usagef("--origin %q: write LAT,LON in degrees, such as 37.77,-122.42", t.origin)
	}
	p, err := dataset.NewProjection(v[0], v[1])
	if err != nil {
		return nil, usageError{err}
	}
	return p, nil
}

func curveCommand() *cobra.Command {
	var c curveFlags
	var t trackFlags
	var budget publish.Budget
	var out curveOutputs
	cmd := &cobra.Command{
		Use:   "curve FILE|FOLDER",
		Short: "Private version of a person's own curve or track",
		Long: `Releases a private version of each curve or track in FILE (GPX, GeoJSON, CSV,
Parquet, WFDB) or in the files of FOLDER, to be run on the person's own device: two
curves at distance d look alike within e^(ε·d). The window, the output's times and all
flags are public. The output has the format that came in, and nothing of the input's
names, times or metadata; several curves go into one file, or with a -o that has no suffix
into a folder, a file for each, numbered in the order of the input.
The budget is per unit of the values (per squared unit, --rho): what is right for
microvolts is a million times too small for millivolts. 'curveil plan curve' says what a
budget hides and what it leaves.`,
		Example: `  curveil curve ride.gpx --epsilon 0.02 --window 2008-05-17T21:00:00Z/2008-05-18T09:00:00Z --every 60 --max-gap 600 --origin 37.77,-122.42 -o private.gpx
  curveil curve ecg-in-microvolts.csv --rho 0.1 --window 0:10 --every 0.01 --max-gap 0.1 -o private.csv`,
		Args: exactArgs(1, "one file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			zone, err := flags.Zone(t.in.Zone)
			if err != nil {
				return err
			}
			cfg, err := c.config(cmd.Flags(), zone)
			if err != nil {
				return err
			}
			o, err := t.options(cfg.Window)
			if err != nil {
				return err
			}
			grid, err := t.grid(cfg.Window)
			if err != nil {
				return err
			}
			if err := out.check(args[0]); err != nil {
				return err
			}
			job := &curveJob{cfg: cfg, flags: &t, grid: grid, budget: &budget, file: args[0], out: &out, size: c.size}
			if err := job.read(args[0], o); err != nil {
				return err
			}
			if err := acceptCurve(&budget, cfg, job.tracks[0].Geographic); err != nil {
				return err
			}
			if len(job.tracks) > 1 && (out.release != "" || out.picture != "") {
				return usagef("--release and --plot are for one curve; %s has %d", args[0], len(job.tracks))
			}
			budget.Tracks = true
			if job.book, err = budget.Open(cmd.Context(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			if job.book != nil {
				defer job.book.Close()
			}
			if err := acceptCurve(&budget, cfg, job.tracks[0].Geographic); err != nil { // again, to warn
				return err
			}
			if err := job.identify(cmd.Context()); err != nil {
				return err
			}
			return job.run(cmd)
		},
	}
	c.register(cmd.Flags())
	t.register(cmd.Flags())
	budget.Register(cmd.Flags())
	budget.RegisterDry(cmd.Flags())
	f := cmd.Flags()
	f.Lookup("dataset").Usage = "name in the ledger of the data set that everything in this call is debited to, which adds up (default: one for each track: its file's name without suffix, and where a file holds several, /NAME or /ID behind it)"
	f.Lookup("weak").Usage = weakCurveUsage
	out.register(f)
	return cmd
}

// What is protected, and the unit of distances on the ground.
const (
	unitOfTrack = "track"
	unitOfCurve = "curve"
	metres      = "m"
)

// curveJob is one call of the verb.
type curveJob struct {
	cfg    curve.Config
	flags  *trackFlags
	grid   []float64
	budget *publish.Budget
	book   *ledger.Ledger
	file   string
	out    *curveOutputs
	size   float64 // public guess

	plane  *dataset.Projection // for tracks on the ground
	tracks []*dataset.Track
	curves []fit.Curve // in metres, or in the values' units
	names  []string    // of the tracks in the ledger
}

// read reads all tracks, so that a fault in the last one stops everything before
// anything is spent.
func (j *curveJob) read(path string, o dataset.TrackOptions) error {
	r, err := dataset.OpenTracks(path, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for r.Next() {
		t := r.Track()
		if len(j.tracks) > 0 && (t.Geographic != j.tracks[0].Geographic || len(t.Components) != len(j.tracks[0].Components)) {
			return fmt.Errorf("%s: tracks of different kinds in one call: release them one kind at a time", t.File)
		}
		c := t.Curve
		if t.Geographic {
			if j.plane == nil {
				if j.plane, err = j.flags.projection(); err != nil {
					return err
				}
			}
			if c, err = t.Plane(j.plane); err != nil {
				return err
			}
		}
		j.tracks, j.curves = append(j.tracks, t), append(j.curves, c)
	}
	if err := r.Err(); err != nil {
		return err
	}
	if len(j.tracks) == 0 {
		return fmt.Errorf("%s: no tracks", path)
	}
	first := j.tracks[0]
	if first.Geographic {
		j.cfg.Unit, j.cfg.Distance, j.cfg.Components = unitOfTrack, metres, []string{"east", "north"}
		j.cfg.XLabel, j.cfg.YLabel = "time (s)", "metres from the public origin"
	}
	// Seconds of a track can hardly be anything but those since 1970 when there are so many.
	if j.cfg.UnixTime = first.ISO || first.Geographic && j.cfg.Window.A >= 1e8; j.cfg.UnixTime {
		j.cfg.XLabel = "time (UTC)"
	}
	if first.Geographic {
		return nil
	}
	j.cfg.Unit, j.cfg.Distance = unitOfCurve, first.Components[0].Unit
	for _, c := range first.Components {
		j.cfg.Components = append(j.cfg.Components, c.Name)
		if c.Unit != j.cfg.Distance {
			j.cfg.Distance = ""
		}
	}
	return nil
}

func (j *curveJob) run(cmd *cobra.Command) error {
	p, err := curve.New(j.cfg)
	if err != nil {
		return usageError{err}
	}
	j.cfg = p.Config()
	format, err := outputFormat(j.out.path, j.tracks[0].Format)
	if err != nil {
		return err
	}
	w, err := j.out.open(j.file, format, len(j.tracks))
	if err != nil {
		return err
	}
	defer w.discard()
	if err := warnCurve(cmd.ErrOrStderr(), j.cfg, j.size); err != nil {
		return err
	}
	if j.out.own {
		fmt.Fprintf(cmd.ErrOrStderr(), "curveil: %s: %s\n", j.out.picture, ownPicture)
	}
	all := j.expenditures()
	if j.budget.Dry {
		return j.rehearse(cmd, all)
	}
	// No track is debited unless all can be.
	if _, err := publish.Afford(cmd.Context(), all...); err != nil {
		return err
	}
	var spent []*publish.Expense
	for _, e := range all {
		e, err := j.budget.Debit(cmd.Context(), j.book, e.Dataset, e.Verb, e.Statement, e.Parameters)
		if err != nil {
			return err
		}
		spent = append(spent, e)
	}
	var results []*curve.Result
	var texts [][]byte
	count := newCounter(cmd.ErrOrStderr(), "curves")
	for start := 0; start < len(j.curves); start += 64 {
		count.at(start)
		some, err := p.All(cmd.Context(), j.curves[start:min(start+64, len(j.curves))], noise.Crypto())
		if err != nil {
			count.clear()
			return spent[start].Wasted(err)
		}
		results = append(results, some...)
	}
	count.clear()
	for i, r := range results {
		text, err := publish.Encode(r.Release)
		if err != nil {
			return spent[i].Wasted(err)
		}
		texts = append(texts, text)
	}
	if err := j.store(w, results); err != nil {
		return j.keep(cmd.Context(), spent, texts, err)
	}
	// The curves are out: the ledger learns of all of them before anything else can fail.
	for i, e := range spent {
		if err := e.Record(cmd.Context(), texts[i]); err != nil {
			return err
		}
	}
	if err := w.release.Write(texts[0]); err != nil {
		path, lost := j.budget.Rescue(texts[0], ".json")
		if lost != nil {
			return fmt.Errorf("--release could not be written (%w); the private curve itself is in %s, and is recorded", errors.Join(err, lost), j.out.path)
		}
		return fmt.Errorf("--release could not be written (%w); it is kept in %s; the private curve itself is in %s, and both are recorded", err, path, j.out.path)
	}
	j.report(cmd.OutOrStdout(), results, spent)
	if j.out.picture != "" {
		if err := j.draw(j.out.picture, results[0].Release); err != nil {
			redo := "; --release keeps what 'curveil plot' draws from"
			if j.out.release != "" {
				redo = fmt.Sprintf(": 'curveil plot %s' draws it, at no cost", j.out.release)
			}
			return fmt.Errorf("the picture could not be written (%w); the private curve is in %s, and is recorded%s", err, j.out.path, redo)
		}
	}
	return nil
}

// store writes all private curves to their place.
func (j *curveJob) store(w *curveWriter, results []*curve.Result) error {
	for i, r := range results {
		if err := j.write(w, r.Release, j.tracks[i]); err != nil {
			return err
		}
	}
	return w.commit()
}

// keep saves the releases of curves that could not be written.
func (j *curveJob) keep(ctx context.Context, spent []*publish.Expense, texts [][]byte, cause error) error {
	var errs []error
	for i, e := range spent {
		errs = append(errs, j.budget.Unwritten(ctx, e, texts[i], cause))
	}
	return errors.Join(errs...)
}

func (j *curveJob) statement() privacy.Statement {
	return privacy.Statement{Guarantee: j.cfg.Guarantee, Unit: j.cfg.Unit, Metric: j.cfg.Metric, Distance: j.cfg.Distance}
}

// expenditures are those of all tracks.
func (j *curveJob) expenditures() []publish.Expenditure {
	parameters := map[string]any{
		"window": []float64{j.cfg.Window.A, j.cfg.Window.B}, "method": j.cfg.Method, "every": j.flags.every,
	}
	var out []publish.Expenditure
	for _, name := range j.names {
		out = append(out, publish.Expenditure{
			Budget: j.budget, Book: j.book, Dataset: name, Verb: "curve", Statement: j.statement(), Parameters: parameters,
			Predicted: func() string { return predictedError(j.cfg) },
		})
	}
	return out
}

// write evaluates the release on the public grid.
func (j *curveJob) write(w *curveWriter, r *release.Release, t *dataset.Track) error {
	x := make([][]float64, len(r.Components))
	y := make([]float64, len(r.Components))
	for _, at := range j.grid {
		if err := r.Eval(y, at); err != nil {
			return err
		}
		for k, v := range y {
			x[k] = append(x[k], v)
		}
	}
	if t.Geographic {
		lat, lon := j.plane.Degrees(x[0], x[1])
		x = [][]float64{lat, lon}
	}
	return w.write(t.Output(j.grid, x))
}
