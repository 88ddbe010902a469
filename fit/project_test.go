package fit

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/space"
	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"
)

func drawSeries(t *rapid.T, window space.Interval) Series {
	n := rapid.IntRange(1, 30).Draw(t, "samples")
	var s Series
	for range n {
		s.T = append(s.T, window.A+window.Length()*rapid.Float64Range(0, 1).Draw(t, "t"))
	}
	slices.Sort(s.T)
	s.T = slices.Compact(s.T)
	for range s.T {
		s.X = append(s.X, rapid.Float64Range(-1e4, 1e4).Draw(t, "x"))
	}
	return s
}

func legendrePieces(t testing.TB, window space.Interval, pieces, m int) space.Space {
	base, err := space.Legendre(space.Interval{A: 0, B: 1}, m)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.Piecewise(base, space.EqualPieces(window, pieces))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every level of the pyramid is the projection computed by brute-force
// quadrature between all knots and breaks, residuals included.
func TestPyramidAgainstQuadrature(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		window := space.Interval{A: -3, B: 5}
		m, levels := rapid.IntRange(1, 6).Draw(rt, "m"), rapid.IntRange(0, 4).Draw(rt, "levels")
		c := Curve{drawSeries(rt, window), drawSeries(rt, window)}
		p, err := NewPyramid(c, window, m, levels)
		if err != nil {
			rt.Fatal(err)
		}
		size := 1e4
		x, w := make([]float64, m+2), make([]float64, m+2)
		quad.Legendre{}.FixedLocations(x, w, 0, 1)
		for j := range levels + 1 {
			s := legendrePieces(t, window, 1<<j, m)
			breaks := space.EqualPieces(window, 1<<j)
			e := make([]float64, s.Dim())
			want := make([]float64, 2*s.Dim())
			residual := make([]float64, 1<<j)
			visit := func(f func(comp, piece int, weight, v float64)) {
				for comp, series := range c {
					knots, _ := series.on(window, breaks...)
					for i := 1; i < len(knots); i++ {
						h := knots[i] - knots[i-1]
						for q := range x {
							at := knots[i-1] + h*x[q]
							s.Eval(e, at)
							piece := min(int((at+3)/8*float64(int(1)<<j)), 1<<j-1)
							f(comp, piece, w[q]*h/8, series.At(at))
						}
					}
				}
			}
			visit(func(comp, _ int, weight, v float64) {
				for k := range e {
					want[2*k+comp] += weight * v * e[k]
				}
			})
			visit(func(comp, piece int, weight, v float64) {
				for k := range e {
					v -= e[k] * want[2*k+comp]
				}
				residual[piece] += weight * v * v
			})
			for k, v := range p.Coordinates(j) {
				if math.Abs(v-want[k]) > 1e-10*size {
					rt.Fatalf("level %d coordinate %d: %g, want %g", j, k, v, want[k])
				}
			}
			for i, r := range residual {
				if got := p.PieceResidual(j, i, i+1); math.Abs(got-r) > 1e-10*size*size {
					rt.Fatalf("level %d residual %d: %g, want %g", j, i, got, r)
				}
			}
		}
	})
}

// Residuals keep their digits on a large curve that is nearly a line: 1e8 plus a
// triangle of height 1.
func TestPyramidSmallResiduals(t *testing.T) {
	window := space.Interval{A: 0, B: 8}
	big := Curve{{T: []float64{0, 4, 8}, X: []float64{1e8, 1e8 + 1, 1e8}}}
	small := Curve{{T: []float64{0, 4, 8}, X: []float64{0, 1, 0}}}
	for _, m := range []int{1, 2, 3} {
		p, _ := NewPyramid(big, window, m, 3)
		q, _ := NewPyramid(small, window, m, 3)
		for j := range 4 {
			if got, want := p.Residual(j), q.Residual(j); math.Abs(got-want) > 1e-7 {
				t.Errorf("m=%d level %d: %g, want %g", m, j, got, want)
			}
		}
	}
}

// A projection is 1-Lipschitz and so is the distance to it: what the privacy
// of every method in package curve rests on.
func TestProjectionsAreLipschitz(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		window := space.Interval{A: 0, B: 1}
		a, b := Curve{drawSeries(rt, window)}, Curve{drawSeries(rt, window)}
		difference := Series{}
		difference.T, _ = a[0].on(window, b[0].T...)
		for _, t := range difference.T {
			difference.X = append(difference.X, a[0].At(t)-b[0].At(t))
		}
		d := math.Sqrt(meanSquare(difference.T, difference.X, window)) * (1 + 1e-9)
		p, _ := NewPyramid(a, window, 2, 4)
		q, _ := NewPyramid(b, window, 2, 4)
		for j := range 5 {
			var sum float64
			for k, v := range p.Coordinates(j) {
				sum += (v - q.Coordinates(j)[k]) * (v - q.Coordinates(j)[k])
			}
			if math.Sqrt(sum) > d+1e-7 {
				rt.Fatalf("level %d: coordinates move by %g, curves by %g", j, math.Sqrt(sum), d)
			}
			if move := math.Abs(p.Residual(j) - q.Residual(j)); move > d+1e-7 {
				rt.Fatalf("level %d: residuals move by %g, curves by %g", j, move, d)
			}
		}
	})
}

func TestSineIntegral(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{ // DLMF tables and Wolfram
		{0, 0}, {1, 0.946083070367183015}, {2, 1.605412976802694849}, {4, 1.758203138949053058}, {4.000001, 1.758202949748},
		{5, 1.549931244944674137}, {10, 1.658347594218874049}, {-10, -1.658347594218874049}, {50, 1.551617072485935847}, {1000, 1.570233121968771220},
	} {
		tolerance := 4e-16 * math.Max(1, math.Abs(c.want))
		if c.x == 4.000001 {
			tolerance = 1e-11
		}
		if got := SineIntegral(c.x); math.Abs(got-c.want) > tolerance {
			t.Errorf("Si(%g) = %.17g, want %.17g", c.x, got, c.want)
		}
	}
}

func TestGoldenSinc(t *testing.T) {
	data, err := os.ReadFile("testdata/curve.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Sinc struct {
			T      []float64 `json:"t"`
			Y      []float64 `json:"y"`
			K      []float64 `json:"k"`
			Coefs  []float64 `json:"coefs"`
			NormSq float64   `json:"norm_sq"`
			K1to8  struct {
				DistR float64 `json:"dist2_over_R"`
			} `json:"k1to8"`
			SI struct {
				X []float64 `json:"x"`
				V []float64 `json:"v"`
			} `json:"si"`
		} `json:"sinc"`
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-8 {
			t.Errorf("%s = %g, want %g", what, got, want)
		}
	}
	for i, x := range g.Sinc.SI.X {
		near("Si(πx)/π", SineIntegral(math.Pi*x)/math.Pi, g.Sinc.SI.V[i])
	}
	window := space.Interval{A: 0, B: 8}
	c := Curve{{T: g.Sinc.T, X: g.Sinc.Y}}
	s, err := space.Sinc(window, g.Sinc.K[0], 1, len(g.Sinc.K))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Project(c, s)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range g.Sinc.Coefs {
		near("coefficient", math.Sqrt(8)*p.Coordinates[i], want)
	}
	near("norm²", 8*p.MeanSquare, g.Sinc.NormSq)
	s, _ = space.Sinc(window, 1, 1, 8)
	p, _ = Project(c, s)
	near("distance over R", math.Sqrt(8*p.Residual), g.Sinc.K1to8.DistR)
}

// The general projection agrees with the exact one where both exist, and is a
// fixed point on curves of the space.
func TestProjectGeneral(t *testing.T) {
	window := space.Interval{A: 10, B: 12}
	c := Curve{{T: []float64{10, 10.3, 11.9}, X: []float64{1, -2, 5}}, {T: []float64{10.5, 11}, X: []float64{3, 4}}}
	for _, text := range []string{"cosine:9", "fourier:5", "bspline:7", "piecewise:3:cosine:2", "hermite:6"} {
		s, err := space.Parse(text, window)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Project(c, s)
		if err != nil {
			t.Fatal(err)
		}
		e := make([]float64, s.Dim())
		for comp, series := range c {
			want := make([]float64, s.Dim())
			const parts = 20_000
			for i := range parts {
				at := 10 + 2*(float64(i)+0.5)/parts
				s.Eval(e, at)
				for k, v := range e {
					want[k] += v * series.At(at) / parts
				}
			}
			for k := range want {
				if got := p.Coordinates[2*k+comp]; math.Abs(got-want[k]) > 2e-3 {
					t.Errorf("%s coordinate %d,%d: %g, want %g", text, k, comp, got, want[k])
				}
			}
		}
		if p.Residual < 0 || p.Residual > p.MeanSquare {
			t.Errorf("%s: residual %g of %g", text, p.Residual, p.MeanSquare)
		}
	}
}

func TestProjectVector(t *testing.T) {
	window := space.Interval{A: 0, B: 2 * math.Pi}
	circle := func(dst []float64, t float64) { dst[1], dst[0] = math.Sincos(t) }
	v, err := space.Span(window, 2, circle)
	if err != nil {
		t.Fatal(err)
	}
	c := Curve{{}, {}}
	for i := range 2001 {
		at := window.B * float64(i) / 2000
		for k, x := range []float64{3 * math.Cos(at), 3 * math.Sin(at)} {
			c[k].T, c[k].X = append(c[k].T, at), append(c[k].X, x)
		}
	}
	p, err := ProjectVector(c, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Coordinates) != 1 || math.Abs(math.Abs(p.Coordinates[0])-3) > 1e-5 || p.Residual > 1e-9 {
		t.Errorf("a circle of radius 3 has %v", p)
	}
}

func TestCheckGaps(t *testing.T) {
	window := space.Interval{A: 0, B: 100}
	c := Curve{{T: []float64{5, 20, 90}, X: []float64{0, 0, 0}}}
	if err := c.CheckGaps(window, 70); err != nil {
		t.Error(err)
	}
	if err := c.CheckGaps(window, 60); err == nil || !strings.Contains(err.Error(), "from time 20") {
		t.Errorf("gap of 70 with at most 60: %v", err)
	}
	if err := c.CheckGaps(window, 4); err == nil || !strings.Contains(err.Error(), "time 0") {
		t.Errorf("gap before the first sample: %v", err)
	}
}

func BenchmarkPyramid(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		s := Series{T: make([]float64, n), X: make([]float64, n)}
		for i := range s.T {
			s.T[i], s.X[i] = float64(i), math.Sin(float64(i)/50)
		}
		window := space.Interval{A: 0, B: float64(n - 1)}
		b.Run(sizeName(n), func(b *testing.B) {
			for range b.N {
				if _, err := NewPyramid(Curve{s}, window, 2, 10); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
		})
	}
}

func sizeName(n int) string {
	return map[int]string{1_000: "N=1e3", 10_000: "N=1e4", 100_000: "N=1e5", 1_000_000: "N=1e6"}[n]
}
