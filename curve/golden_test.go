package curve

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

const tolerance = 1e-8

type goldenFile struct {
	Projection struct {
		T     []float64    `json:"t"`
		Y     [][2]float64 `json:"y"`
		Norm  float64      `json:"norm"`
		Cases []struct {
			M        int           `json:"m"`
			Segments int           `json:"segments"`
			Coefs    [][][]float64 `json:"orthonormal_coefs_piece_degree_coord"`
			Residual []float64     `json:"residual_sq_per_piece"`
			Dist2    float64       `json:"dist2"`
			Values   struct {
				T []float64   `json:"t"`
				F [][]float64 `json:"f"`
			} `json:"values_at"`
		} `json:"cases"`
	} `json:"projection"`
	Continuity struct {
		Cases []struct {
			M      int         `json:"m"`
			Breaks []float64   `json:"breaks"`
			Input  [][]float64 `json:"input_legendre_coefs"`
			Output [][]float64 `json:"output_legendre_coefs"`
			Ends   [][]float64 `json:"output_end_values"`
			Moved  float64     `json:"dist2_moved"`
		} `json:"cases"`
	} `json:"continuity"`
	Segment struct {
		T     []float64    `json:"t"`
		Y     [][2]float64 `json:"y"`
		Cases []struct {
			Model  string  `json:"model"`
			M      int     `json:"m"`
			Budget float64 `json:"budget"`
			Beta   float64 `json:"beta"`
			Script struct {
				W float64   `json:"W"`
				V []float64 `json:"V"`
				R []float64 `json:"R"`
			} `json:"script"`
			Kbar   int       `json:"kbar"`
			Breaks []float64 `json:"breaks"`
			Pieces int       `json:"pieces"`
			Left   float64   `json:"B_left"`
			Reduce []struct {
				Level   int     `json:"level"`
				Index   int     `json:"index"`
				Grid    int     `json:"grid"`
				L       int     `json:"l"`
				Budget  float64 `json:"budget"`
				Dist2   float64 `json:"dist2"`
				LHS     float64 `json:"lhs"`
				RHS     float64 `json:"rhs"`
				Reduced bool    `json:"reduced"`
			} `json:"reduce_calls"`
			Approx        float64 `json:"approx_dist2"`
			Err           float64 `json:"err"`
			ErrContinuous float64 `json:"err_continuous"`
			Values        struct {
				T     []float64   `json:"t"`
				F     [][]float64 `json:"f"`
				FCont [][]float64 `json:"f_cont"`
			} `json:"values"`
		} `json:"cases"`
	} `json:"priv_func_seg_scripted"`
	Select struct {
		DegreeMax int          `json:"degree_max"`
		Coefs     [][2]float64 `json:"coefs"`
		Residual  float64      `json:"residual_sq"`
		Cases     []struct {
			Model    string      `json:"model"`
			Budget   float64     `json:"budget"`
			W1       float64     `json:"W1"`
			V1       []float64   `json:"V1"`
			W2       float64     `json:"W2"`
			V2       []float64   `json:"V2"`
			K0       int         `json:"k0"`
			Keep     []int       `json:"keep"`
			Coefs    [][]float64 `json:"coefs"`
			Err      float64     `json:"err"`
			TailDist []float64   `json:"tail_dist"`
		} `json:"cases"`
	} `json:"priv_func_select_scripted"`
	SVT []struct {
		G    []float64 `json:"g"`
		Thr  float64   `json:"thr"`
		Eps  float64   `json:"eps"`
		W    float64   `json:"W"`
		V    []float64 `json:"V"`
		Halt int       `json:"halts_at_zero_based"`
	} `json:"svt_scripted"`
	Unbounded struct {
		T    []float64          `json:"t_minus10"`
		Y    []float64          `json:"y"`
		Norm float64            `json:"norm"`
		Tail map[string]float64 `json:"tail"`
	} `json:"unbounded"`
	Trajectories struct {
		Trajectories map[string][][3]float64 `json:"trajectories"`
		Pairs        map[string]struct {
			Dist2 float64 `json:"dist2"`
		} `json:"pairs"`
	} `json:"section_2_3"`
}

func golden(t testing.TB) *goldenFile {
	t.Helper()
	data, err := os.ReadFile("testdata/curve.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(goldenFile)
	if err := json.Unmarshal(data, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func planar(t []float64, y [][2]float64) fit.Curve {
	c := fit.Curve{{T: t}, {T: t}}
	for _, v := range y {
		c[0].X = append(c[0].X, v[0])
		c[1].X = append(c[1].X, v[1])
	}
	return c
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}

// scripted gives unit noise in call order.
type scripted struct {
	w       []float64   // one per sparse vector run
	v       [][]float64 // likewise
	runs    int
	r       []float64
	z       []func(i int) float64 // one per vector
	vectors int
}

func (s *scripted) private() bool { return false }

func (s *scripted) first(g privacy.Guarantee, threshold float64, n int, query func(int) float64) (int, error) {
	unit := 3 / float64(sparseEpsilon(g))
	w, v := s.w[s.runs], s.v[s.runs]
	s.runs++
	for j := range n {
		if query(j)+unit*v[j] >= threshold+unit*w {
			return j, nil
		}
	}
	return n - 1, nil
}

func unitNoise(g privacy.Guarantee) float64 {
	if e, pure := g.(privacy.Geo); pure {
		return 1 / float64(e)
	}
	return 1 / math.Sqrt(2*value(g))
}

func (s *scripted) scalar(g privacy.Guarantee, v float64) (float64, error) {
	z := s.r[0]
	s.r = s.r[1:]
	return v + z*unitNoise(g), nil
}

func (s *scripted) vector(g privacy.Guarantee, dst, x []float64) error {
	z := s.z[s.vectors]
	s.vectors++
	for i := range dst {
		dst[i] = x[i] + z(i)*unitNoise(g)
	}
	return nil
}

func sines(i int) float64 { return math.Sin(1.7 * float64(i+1)) }

func guarantee(model string, budget float64) privacy.Guarantee {
	if model == "gp" {
		return privacy.Geo(budget)
	}
	return privacy.ConcentratedGeo(budget)
}

// distance is dist₂ of q and a released function, through the projection on the
// release's own space: (the coordinates' part)² + (what no coordinate can reach)².
func distance(t *testing.T, c fit.Curve, r *Result) float64 {
	t.Helper()
	q, err := fit.Project(c, r.Release.Space)
	if err != nil {
		t.Fatal(err)
	}
	sum := q.Residual
	for k, row := range r.Release.Coefficients {
		for j, a := range row {
			d := a - q.Coordinates[j*len(c)+k]
			sum += d * d
		}
	}
	return math.Sqrt(sum * r.Release.Space.Domain().Length())
}

func TestGoldenProjection(t *testing.T) {
	g := golden(t).Projection
	c := planar(g.T, g.Y)
	window := space.Interval{A: 0, B: 8}
	for _, want := range g.Cases {
		p, err := fit.NewPyramid(c, window, want.M, 5)
		if err != nil {
			t.Fatal(err)
		}
		level := int(math.Log2(float64(want.Segments)))
		near(t, "norm", math.Sqrt(8*p.MeanSquare()), g.Norm)
		near(t, "dist2", math.Sqrt(8)*p.Residual(level), want.Dist2)
		for i, piece := range want.Coefs {
			near(t, "residual", 8*p.PieceResidual(level, i, i+1), want.Residual[i])
			for k, row := range piece {
				for comp, v := range row {
					near(t, "coefficient", math.Sqrt(8)*p.Coordinates(level)[(i*want.M+k)*2+comp], v)
				}
			}
		}
		base, _ := space.Legendre(space.Interval{A: 0, B: 1}, want.M)
		sp, err := space.Piecewise(base, space.EqualPieces(window, want.Segments))
		if err != nil {
			t.Fatal(err)
		}
		general, err := fit.Project(c, sp)
		if err != nil {
			t.Fatal(err)
		}
		e := make([]float64, sp.Dim())
		for i, at := range want.Values.T {
			sp.Eval(e, at)
			for comp := range 2 {
				var f float64
				for j := range e {
					near(t, "general projection", general.Coordinates[2*j+comp], p.Coordinates(level)[2*j+comp])
					f += e[j] * general.Coordinates[2*j+comp]
				}
				near(t, "value", f, want.Values.F[i][comp])
			}
		}
	}
}

func TestGoldenContinuity(t *testing.T) {
	for _, want := range golden(t).Continuity.Cases {
		base, _ := space.Legendre(space.Interval{A: 0, B: 1}, want.M)
		sp, err := space.Piecewise(base, want.Breaks)
		if err != nil {
			t.Fatal(err)
		}
		// Plain P_j on a piece of length h has norm √(h/(2j+1)).
		norm := func(s, j int) float64 {
			h := want.Breaks[s+1] - want.Breaks[s]
			return math.Sqrt(h / float64(2*j+1) / sp.Domain().Length())
		}
		var a []float64
		for s, row := range want.Input {
			for j, v := range row {
				a = append(a, v*norm(s, j))
			}
		}
		before := append([]float64(nil), a...)
		if err := Continuous(sp, a, 1); err != nil {
			t.Fatal(err)
		}
		var moved float64
		for i := range a {
			near(t, "coefficient", a[i]/norm(i/want.M, i%want.M), want.Output[i/want.M][i%want.M])
			moved += (a[i] - before[i]) * (a[i] - before[i])
		}
		near(t, "distance moved", math.Sqrt(moved*sp.Domain().Length()), want.Moved)
	}
}

func TestGoldenSegment(t *testing.T) {
	g := golden(t).Segment
	c := planar(g.T, g.Y)
	for i, want := range g.Cases {
		config := Config{Window: space.Interval{A: 0, B: 16}, Guarantee: guarantee(want.Model, want.Budget), Metric: privacy.L2,
			Components: []string{"x", "y"}, Method: Segment, Polynomials: want.M, Beta: want.Beta, MaxLevel: len(want.Script.V) - 1, Reduce: ReduceAlways}
		for _, continuous := range []bool{false, true} {
			config.Continuous = continuous
			p, err := New(config)
			if err != nil {
				t.Fatal(err)
			}
			d := &scripted{w: []float64{want.Script.W}, v: [][]float64{want.Script.V}, r: want.Script.R, z: []func(int) float64{sines}}
			r, err := p.privatize(c, d)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(want.Script.R) - len(d.r); got != len(want.Reduce) {
				t.Errorf("case %d: %d checks, want %d", i, got, len(want.Reduce))
			}
			breaks := r.Release.Space.(interface{ Breaks() []float64 }).Breaks()
			if len(breaks) != len(want.Breaks) {
				t.Fatalf("case %d: breaks %v, want %v", i, breaks, want.Breaks)
			}
			for k := range breaks {
				near(t, "break", breaks[k], want.Breaks[k])
			}
			last := r.Trace[len(r.Trace)-1]
			near(t, "budget left", value(last.Guarantee), want.Left)
			f, err := want.Err, error(nil)
			values := want.Values.F
			if continuous {
				f, values = want.ErrContinuous, want.Values.FCont
			}
			near(t, "error", distance(t, c, r), f)
			x := make([]float64, 2)
			for k, at := range want.Values.T {
				if err = r.Release.Eval(x, at); err != nil {
					t.Fatal(err)
				}
				near(t, "value x", x[0], values[k][0])
				near(t, "value y", x[1], values[k][1])
			}
		}
	}
}

// The checks of reduce, one by one.
func TestGoldenReduceChecks(t *testing.T) {
	g := golden(t).Segment
	c := planar(g.T, g.Y)
	for i, want := range g.Cases {
		config := Config{Window: space.Interval{A: 0, B: 16}, Guarantee: guarantee(want.Model, want.Budget), Metric: privacy.L2,
			Components: []string{"x", "y"}, Method: Segment, Polynomials: want.M, Beta: want.Beta, MaxLevel: len(want.Script.V) - 1}
		p, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		pyramid, err := fit.NewPyramid(c, config.Window, want.M, p.config.MaxLevel)
		if err != nil {
			t.Fatal(err)
		}
		b := p.newBudget(t)
		s := &segmentation{budget: b, pyramid: pyramid, dim: float64(2 * want.M), beta: want.Beta,
			draws: &scripted{w: []float64{want.Script.W}, v: [][]float64{want.Script.V}, r: want.Script.R}}
		if err := s.find(ReduceAlways); err != nil {
			t.Fatal(err)
		}
		if len(s.pieces) != want.Pieces || len(s.checks) != len(want.Reduce) {
			t.Fatalf("case %d: %d pieces after %d checks, want %d after %d", i, len(s.pieces), len(s.checks), want.Pieces, len(want.Reduce))
		}
		for k, check := range want.Reduce {
			got := s.checks[k]
			if got.part != (piece{check.Level, check.Index}) || got.grid != check.Grid || got.accepted != check.Reduced {
				t.Errorf("case %d, check %d: %+v, want %+v", i, k, got, check)
			}
			near(t, "residual", 4*got.err, check.Dist2)
			near(t, "left side", 4*got.lhs, check.LHS)
			near(t, "right side", 4*got.rhs, check.RHS)
		}
	}
}

func (p *Privatizer) newBudget(t *testing.T) *budget {
	t.Helper()
	b, err := p.fresh()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenSelect(t *testing.T) {
	file := golden(t)
	g := file.Select
	c := planar(file.Projection.T, file.Projection.Y)
	window := space.Interval{A: 0, B: 8}
	sp, _ := space.Legendre(window, g.DegreeMax+1)
	for i, want := range g.Cases {
		p, err := New(Config{Window: window, Guarantee: guarantee(want.Model, want.Budget), Metric: privacy.L2, Components: []string{"x", "y"}, Method: Select, Space: sp})
		if err != nil {
			t.Fatal(err)
		}
		d := &scripted{w: []float64{want.W1, want.W2}, v: [][]float64{want.V1, want.V2},
			z: []func(int) float64{sines, func(i int) float64 { return -sines(i) }}}
		r, err := p.privatize(c, d)
		if err != nil {
			t.Fatal(err)
		}
		kept := make(map[int]int)
		for k, j := range want.Keep {
			kept[j] = k
		}
		for j := range sp.Dim() {
			for comp := range 2 {
				want := 0.0
				if k, ok := kept[j]; ok {
					want = g.Cases[i].Coefs[k][comp]
				}
				near(t, "coefficient", math.Sqrt(8)*r.Release.Coefficients[comp][j], want)
			}
		}
		near(t, "error", distance(t, c, r), want.Err)
	}
}

func TestGoldenSparseVector(t *testing.T) {
	for _, want := range golden(t).SVT {
		d := &scripted{w: []float64{want.W}, v: [][]float64{want.V}}
		got, err := d.first(privacy.Geo(want.Eps), want.Thr, len(want.G), func(j int) float64 { return want.G[j] })
		if err != nil || got != want.Halt {
			t.Errorf("halts at %d, want %d (%v)", got, want.Halt, err)
		}
	}
}
