// One suite that every space on a box passes, and the certified spread.

package space

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

var everyBoxSpace = []string{
	"fourier1d:1", "fourier1d:9", "cosine1d:1", "cosine1d:12",
	"fourier2d:3", "fourier2d:4x2", "fourier2d:6:cross", "fourier2d:6x3:cross", "fourier2d:5:total", "fourier2d:6x4:total",
	"cosine2d:4", "cosine2d:3x5", "cosine2d:8:cross", "cosine2d:5:total",
	"fourier3d:1", "fourier3d:4:cross", "cosine3d:2", "cosine3d:3x2x1", "cosine3d:3:total",
	"fourier4d:1", "fourier4d:3:cross", "cosine4d:1", "cosine4d:2:total",
}

func boxOf(d int) []Interval {
	return []Interval{{0, 1}, {-122.52, -122.35}, {1.2e9, 1.2e9 + 43200}, {-3, 18}}[:d]
}

func parseBox(t testing.TB, text string) *Tensor {
	t.Helper()
	d := strings.IndexAny(text, "1234")
	s, err := ParseBox(text, boxOf(int(text[d]-'0')))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func eachBoxSpace(t *testing.T, check func(t *testing.T, s *Tensor)) {
	for _, text := range everyBoxSpace {
		t.Run(text, func(t *testing.T) { check(t, parseBox(t, text)) })
	}
}

func atBox(s BoxSpace, x []float64) []float64 {
	e := make([]float64, s.Dim())
	s.Eval(e, x)
	return e
}

func randomPoint(r *rand.Rand, box []Interval) []float64 {
	x := make([]float64, len(box))
	for i, d := range box {
		x[i] = d.A + r.Float64()*d.Length()
		if r.IntN(6) == 0 {
			x[i] = []float64{d.A, d.B, d.A + d.Length()/2}[r.IntN(3)]
		}
	}
	return x
}

// The midpoint rule with P points an axis is exact for products of the functions once P exceeds twice the
// degree, so the Gram matrix is the identity to rounding.
func TestBoxOrthonormal(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		n, d := s.Dim(), len(s.Box())
		gram := make([]float64, n*n)
		p, total := 2*s.Rank()+2, 1
		for range d {
			total *= p
		}
		x, e := make([]float64, d), make([]float64, n)
		for i := range total {
			for a, rest := 0, i; a < d; a, rest = a+1, rest/p {
				x[a] = s.Box()[a].A + s.Box()[a].Length()*(float64(rest%p)+0.5)/float64(p)
			}
			s.Eval(e, x)
			for j, v := range e {
				floats.AddScaled(gram[j*n:(j+1)*n], v/float64(total), e)
			}
		}
		for j := range n {
			gram[j*n+j]--
		}
		// The third variable is a Unix time of microsecond steps in half a day.
		if worst := floats.Norm(gram, math.Inf(1)); worst > 1e-9 {
			t.Errorf("Gram matrix is %g away from the identity", worst)
		}
	})
}

func TestBoxBound(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		r := rand.New(rand.NewPCG(1, 1))
		for range 50 {
			x := randomPoint(r, s.Box())
			if got, want := s.Bound(x), floats.Norm(atBox(s, x), 2); math.Abs(got-want) > 1e-12*want {
				t.Fatalf("Bound(%v) = %v, ‖e‖ = %v", x, got, want)
			}
		}
		x := randomPoint(r, s.Box())
		x[0] = math.NaN()
		if !math.IsNaN(s.Bound(x)) {
			t.Error("Bound of NaN is a number")
		}
	})
}

func TestBoxRoundTrips(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		form, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalBox(form)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := ParseBox(s.String(), s.Box())
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []*Tensor{back, parsed} {
			again, err := json.Marshal(other)
			if err != nil || !bytes.Equal(form, again) || other.Dim() != s.Dim() {
				t.Errorf("came back as %s, was %s (%v)", again, form, err)
			}
		}
	})
}

func TestBoxEvalAllocatesNothing(t *testing.T) {
	s := parseBox(t, "cosine3d:3x2x1")
	e, x := make([]float64, s.Dim()), []float64{0.2, -122.4, 1.2e9 + 5}
	if n := testing.AllocsPerRun(50, func() { s.Eval(e, x) }); n > 0.5 { // the pool may be emptied by a collection
		t.Errorf("Eval allocates %v times", n)
	}
}

// Levels are nested: the functions of a rank m space are those of levels up to m.
func TestLevels(t *testing.T) {
	for _, text := range []string{"fourier2d:%", "cosine2d:%:cross", "fourier3d:%:total", "cosine3d:%:cross", "fourier2d:%:total"} {
		big := parseBox(t, strings.Replace(text, "%", "8", 1))
		for _, m := range []string{"1", "2", "3", "4", "7"} {
			small := parseBox(t, strings.Replace(text, "%", m, 1))
			count := 0
			for _, l := range big.Levels() {
				if l <= float64(small.Rank()) {
					count++
				}
			}
			if count != small.Dim() {
				t.Errorf("%v holds %d functions of levels up to %s, %v has %d", big, count, m, small, small.Dim())
			}
		}
		if l := big.Levels(); l[0] != 0 || floats.Max(l) != 8 {
			t.Errorf("%v: levels from %v to %v", big, l[0], floats.Max(l))
		}
		for j, l := range big.Levels() {
			if j > 0 && l <= 0 {
				t.Errorf("%v: function %d has level %v", big, j, l)
			}
		}
	}
}

func TestOnGrid(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		r := rand.New(rand.NewPCG(3, 3))
		coef := make([]float64, s.Dim())
		for j := range coef {
			coef[j] = r.NormFloat64()
		}
		points := make([][]float64, len(s.Box()))
		for i, d := range s.Box() {
			for range i + 2 {
				points[i] = append(points[i], d.A+r.Float64()*d.Length())
			}
		}
		got := s.OnGrid(coef, points)
		x := make([]float64, len(points))
		for i, v := range got {
			rest := i
			for a := len(points) - 1; a >= 0; a-- {
				x[a] = points[a][rest%len(points[a])]
				rest /= len(points[a])
			}
			if want := floats.Dot(coef, atBox(s, x)); math.Abs(v-want) > 1e-11*math.Sqrt(float64(s.Dim())) {
				t.Fatalf("value %d = %v, want %v", i, v, want)
			}
		}
	})
}

// No pair of points exceeds the bound, whatever the weights; and the bound is close to what is attained.
func TestSpreadIsABound(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		r := rand.New(rand.NewPCG(2, 2))
		top := float64(s.Rank())
		for _, c := range []struct{ levels, weights []float64 }{
			{[]float64{top}, []float64{1}}, {[]float64{1, top + 0.5}, []float64{3, 1}}, {[]float64{1, 2, top + 1}, []float64{0.1, 5, 0}},
		} {
			bound, attained := s.Spread(c.levels, c.weights)
			slack := []float64{1e-6, 1e-5, 1e-4, 3e-4}[len(s.Box())-1]
			if !(attained <= bound && bound <= (1+slack)*attained) {
				t.Errorf("bound %v, attained %v", bound, attained)
			}
			far, best := 0.0, []float64(nil)
			distance := func(x, y []float64) (d float64) {
				e, f := atBox(s, x), atBox(s, y)
				for j, l := range s.Levels() {
					d += weightAt(l, c.levels, c.weights) * (e[j] - f[j]) * (e[j] - f[j])
				}
				return d
			}
			corner := make([]float64, len(s.Box()))
			for i, d := range s.Box() {
				corner[i] = d.A
			}
			for i := range 3000 {
				x, y := corner, randomPoint(r, s.Box())
				if i%2 == 0 {
					x = randomPoint(r, s.Box())
				} else if best != nil { // climb
					for k, d := range s.Box() {
						y[k] = d.clamp(best[k] + (y[k]-best[k])*math.Pow(r.Float64(), 3))
					}
				}
				if d := distance(x, y); d > far {
					far = d
					if i%2 == 1 {
						best = y
					}
				}
			}
			if far > bound {
				t.Errorf("a pair is %v apart, beyond the bound %v", far, bound)
			}
			if len(s.Box()) == 1 && far < 0.99*bound {
				t.Errorf("the search came to %v, the bound is %v", far, bound)
			}
		}
	})
}

// The largest spaces that a plan chooses lose nothing to their certificates either.
func TestSpreadIsTight(t *testing.T) {
	for _, text := range []string{"cosine1d:1024", "fourier1d:1000", "cosine2d:32", "cosine3d:16", "cosine4d:8", "cosine4d:8:cross", "fourier4d:4:total"} {
		s := parseBox(t, text)
		levels, weights := []float64{float64(s.Rank()) / 2, float64(s.Rank())}, []float64{1, 0.4}
		for _, levels := range [][]float64{levels[1:], levels} {
			if bound, attained := s.Spread(levels, weights[:len(levels)]); !(attained <= bound && bound <= (1+5e-4)*attained) {
				t.Errorf("%s, %d shells: bound %v, attained %v", text, len(levels), bound, attained)
			}
		}
	}
}

// The kernel, in either form, folded up or at a point, is the sum over the functions that it stands for.
func TestKernel(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		r := rand.New(rand.NewPCG(6, 6))
		top, d := float64(s.Rank()), len(s.Box())
		for _, c := range []struct{ levels, weights []float64 }{
			{[]float64{top}, []float64{2}}, {[]float64{1, top + 0.5}, []float64{3, 1}}, {[]float64{0, 0.5, 1, 2, top + 1}, []float64{9, 7, 0.1, 5, 0}},
		} {
			k := s.newKernel(c.levels, c.weights)
			direct := func(u []float64) (sum float64) {
				for j, l := range s.Levels() {
					v := weightAt(l, c.levels, c.weights)
					for i := range u {
						f := s.Frequency(j, i)
						if v *= math.Cos(2 * math.Pi * float64(f) * u[i]); f > 0 && s.Kind() == "cosine" {
							v *= 2
						}
					}
					sum += v
				}
				return sum
			}
			u := make([]float64, d)
			if want := direct(u); math.Abs(k.sum-want) > 1e-12*want || math.Abs(k.at(u, 1)-want) > 1e-12*want {
				t.Fatalf("K(0) = %v and %v, want %v", k.sum, k.at(u, 1), want)
			}
			for range 20 {
				for i := range u {
					if u[i] = r.Float64(); r.IntN(4) == 0 {
						u[i] = float64(r.IntN(5)) / 4
					}
				}
				if got, want := k.at(u, 1), direct(u); math.Abs(got-want) > 1e-11*k.sum {
					t.Fatalf("K(%v) = %v, want %v", u, got, want)
				}
			}
			p, period, visited := s.polynomial(k), make([]int, d), 0
			for i, n := range p.degree {
				period[i] = 2 * n
			}
			p.onGrid(period, func(v float64, place []int) {
				visited++
				for i, at := range place {
					u[i] = float64(at) / float64(period[i])
				}
				if want := p.at(u); math.Abs(v-want) > 1e-11*k.sum {
					t.Fatalf("the grid has %v at %v, want %v", v, u, want)
				}
			})
			want := 1
			for i, n := range p.degree {
				if want *= n + 1; p.symmetric {
					want = want / (n + 1) * (n + 1 + i) / (i + 1)
				}
			}
			if visited != want {
				t.Errorf("%d points of the grid were visited, want %d", visited, want)
			}
		}
	})
}

// Second derivatives bound how far below its maximum p is in the cell that holds it, on all axes together.
func TestDropFromTheMaximum(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		r := rand.New(rand.NewPCG(12, 1))
		top := float64(s.Rank())
		for _, c := range []struct{ levels, weights []float64 }{
			{[]float64{top}, []float64{2}}, {[]float64{1, top + 0.5}, []float64{3, 1}}, {[]float64{top / 2, top}, []float64{0, 1}},
		} {
			p := s.polynomial(s.newKernel(c.levels, c.weights))
			for i, got := range p.curvature() {
				want := 0.0
				for j, l := range s.Levels() {
					v := weightAt(l, c.levels, c.weights) * float64(s.Frequency(j, i)*s.Frequency(j, i))
					for axis := range s.Box() {
						if s.Kind() == "cosine" && s.Frequency(j, axis) > 0 {
							v *= 2
						}
					}
					want += v
				}
				if math.Abs(got-want) > 1e-9*want {
					t.Errorf("axis %d: the curvature is %v, want %v", i, got, want)
				}
			}
			period := gridPeriods(p.degree)
			best, at := -1.0, []int(nil)
			p.onGrid(period, func(v float64, place []int) {
				if v > best {
					best, at = v, append(at[:0], place...)
				}
			})
			u, w := make([]float64, len(period)), make([]float64, len(period))
			for i := range u {
				u[i] = float64(at[i]) / float64(period[i])
			}
			// The maximum is somewhere within a step; from there, half a step of a coarser grid in any direction.
			coarse := make([]int, len(period))
			for i, n := range period {
				coarse[i] = n / 4
			}
			for range 200 {
				for i := range w {
					w[i] = u[i] + (2*float64(r.IntN(2))-1)*0.5/float64(coarse[i])*float64(r.IntN(4))/4
				}
				if v, least := p.at(w), best-p.drop(coarse, 0); v < least {
					t.Errorf("p falls from %v to %v, below %v", best, v, least)
				}
			}
		}
	})
}

// Halving cells never loses the one that a maximum lies in: the bound that comes of it alone is not below what is
// attained.
func TestRefineKeepsTheMaximum(t *testing.T) {
	eachBoxSpace(t, func(t *testing.T, s *Tensor) {
		for _, levels := range [][]float64{{float64(s.Rank())}, {1, float64(s.Rank())}} {
			p := s.polynomial(s.newKernel(levels, []float64{3, 1}[2-len(levels):]))
			period := gridPeriods(p.degree)
			best, at := -1.0, []int(nil)
			p.onGrid(period, func(v float64, place []int) {
				if v > best {
					best, at = v, append(at[:0], place...)
				}
			})
			attained := p.climb(at, period, best)
			if bound := p.refine(period, best, attained); bound < attained*(1-1e-9) {
				t.Errorf("%d shells: the cells that are left bound p by %v, but it is %v somewhere", len(levels), bound, attained)
			}
		}
	})
}

func TestBoxRefusals(t *testing.T) {
	unit := Interval{0, 1}
	for _, c := range []struct {
		text string
		box  []Interval
		want string
	}{
		{"fourier2d:8", []Interval{unit}, "on a box of 1"},
		{"legendre2d:8", []Interval{unit, unit}, "unknown space"},
		{"fourier2d", []Interval{unit, unit}, "whole number"},
		{"fourier2d:8x", []Interval{unit, unit}, "whole number"},
		{"fourier2d:8x8x8", []Interval{unit, unit}, "3 ranks"},
		{"fourier2d:0", []Interval{unit, unit}, "between 1 and"},
		{"fourier2d:3000", []Interval{unit, unit}, "between 1 and"},
		{"fourier2d:2000", []Interval{unit, unit}, "lower rank"},
		{"fourier4d:2000:cross", []Interval{unit, unit, unit, unit}, "lower rank"},
		{"fourier2d:8:diamond", []Interval{unit, unit}, "set of frequencies"},
		{"fourier2d:8:", []Interval{unit, unit}, "comes the set"},
		{"fourier2d:8", []Interval{unit, {1, 1}}, "variable 2"},
		{"fourier5d:1", []Interval{unit, unit, unit, unit, unit}, "unknown space"},
	} {
		if _, err := ParseBox(c.text, c.box); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	good := `{"kind":"fourier","rank":[2,2],"set":"cube","box":[[0,1],[0,1]]}`
	if _, err := UnmarshalBox([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		``, `[]`, `{}`, good + ` 1`, strings.Replace(good, "cube", "", 1), strings.Replace(good, "cube", "ball", 1),
		strings.Replace(good, "fourier", "Fourier", 1), strings.Replace(good, `"kind"`, `"Kind"`, 1), strings.Replace(good, "[2,2]", "[2]", 1),
		strings.Replace(good, "[2,2]", "[2,null]", 1), strings.Replace(good, "[2,2]", "[2,1.5]", 1), strings.Replace(good, "[0,1]]", "[0,1,2]]", 1),
		strings.Replace(good, "{", `{"dim":3,`, 1), strings.Replace(good, "[0,1]]", "[1,0]]", 1), strings.Replace(good, `"set":"cube",`, "", 1),
	} {
		if _, err := UnmarshalBox([]byte(bad)); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

func TestBoxRandomForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.IntRange(1, 3).Draw(rt, "variables")
		rank := rapid.SliceOfN(rapid.IntRange(1, 5), d, d).Draw(rt, "rank")
		set := rapid.SampledFrom([]Set{Cube, Total, Cross}).Draw(rt, "set")
		kind := rapid.SampledFrom([]string{"fourier", "cosine"}).Draw(rt, "kind")
		s, err := newTensor(kind, boxOf(d), rank, set)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := ParseBox(s.String(), s.Box())
		if err != nil || back.Dim() != s.Dim() || back.String() != s.String() {
			rt.Fatalf("%v came back as %v (%v)", s, back, err)
		}
	})
}

func FuzzUnmarshalBox(f *testing.F) {
	f.Add([]byte(`{"kind":"fourier","rank":[2,2],"set":"cube","box":[[0,1],[0,1]]}`))
	f.Add([]byte(`{"kind":"cosine","rank":[7],"set":"total","box":[[-1e9,1]]}`))
	f.Add([]byte(`{"kind":"cosine","rank":[400,3,9,2],"set":"cross","box":[[0,1],[0,1],[0,1],[0,1]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := UnmarshalBox(data)
		if err != nil {
			return
		}
		form, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalBox(form)
		if err != nil || back.Dim() != s.Dim() {
			t.Fatalf("%s came back as %v (%v)", form, back, err)
		}
	})
}

func FuzzParseBox(f *testing.F) {
	for _, text := range everyBoxSpace {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for d := 1; d <= 4; d++ {
			s, err := ParseBox(text, boxOf(d))
			if err != nil {
				continue
			}
			if back, err := ParseBox(s.String(), boxOf(d)); err != nil || back.Dim() != s.Dim() {
				t.Fatalf("%q became %v, which is refused: %v", text, s, err)
			}
		}
	})
}

// Where a grid that certifies would be too large the bound is the trivial one, at once.
func TestSpreadOfHugeSets(t *testing.T) {
	box := []Interval{{A: 0, B: 1}, {A: 0, B: 1}}
	for _, kind := range []func([]Interval, []int, Set) (*Tensor, error){FourierBox, CosineBox} {
		s, err := kind(box, []int{2047, 2047}, Cross)
		if err != nil {
			t.Fatal(err)
		}
		bound, attained := s.Spread([]float64{float64(s.Rank())}, []float64{1})
		a, b := make([]float64, s.Dim()), make([]float64, s.Dim())
		s.Eval(a, []float64{0, 0})
		for _, x := range [][]float64{{1, 0}, {1, 1}, {0.3, 0.7}, {0.5, 0.5}, {1e-3, 0}} {
			s.Eval(b, x)
			d := 0.0
			for j := range a {
				d += (a[j] - b[j]) * (a[j] - b[j])
			}
			if d > bound {
				t.Errorf("%v: %v is %g away, more than %g", s, x, d, bound)
			}
		}
		if !(attained > 0 && attained <= bound) {
			t.Errorf("%v: bound %g, attained %g", s, bound, attained)
		}
	}
}
