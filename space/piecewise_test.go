package space

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
)

// integrateOver is ∫f over [a,b] by Gauss–Legendre on equal parts.
func integrateOver(a, b float64, parts int, f func(t float64) float64) float64 {
	sum := 0.0
	for i := range parts {
		h := (b - a) / float64(parts)
		sum += quad.Fixed(f, a+float64(i)*h, a+float64(i+1)*h, 10, quad.Legendre{}, 0)
	}
	return sum
}

func TestPiecewiseGivenBreaks(t *testing.T) {
	base, err := Legendre(Interval{0, 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	breaks := []float64{-1, 0, 0.5, 4}
	s, err := Piecewise(base, breaks)
	if err != nil {
		t.Fatal(err)
	}
	for j := range s.Dim() {
		for k := range s.Dim() {
			sum := 0.0
			for i := range 3 {
				sum += integrateOver(breaks[i], math.Nextafter(breaks[i+1], -9), 1, func(t float64) float64 {
					e := at(s, t)
					return e[j] * e[k] / 5
				})
			}
			want := 0.0
			if j == k {
				want = 1
			}
			if math.Abs(sum-want) > 1e-12 {
				t.Errorf("⟨e%d,e%d⟩ = %g", j, k, sum)
			}
		}
	}
	// A break belongs to the piece on its right, the end to the last.
	if e := at(s, 0.5); e[6] == 0 || e[3] != 0 {
		t.Errorf("at the break: %v", e)
	}
	if e := at(s, 4); e[6] == 0 {
		t.Errorf("at the end: %v", e)
	}
	local := s.(Local)
	few := make([]float64, local.LocalDim())
	for _, x := range []float64{-1, -0.3, 0, 0.4, 0.5, 3.9, 4} {
		first := local.EvalLocal(few, x)
		for k, v := range at(s, x) {
			want := 0.0
			if k >= first && k < first+len(few) {
				want = few[k-first]
			}
			if v != want {
				t.Errorf("function %d at %g: %g, alone %g", k, x, v, want)
			}
		}
	}
	if got := s.String(); !strings.Contains(got, "3 given pieces") {
		t.Errorf("String() = %q", got)
	}
	data, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Unmarshal(data)
	if err != nil || !Equal(s, back) {
		t.Errorf("%s does not read back: %v", data, err)
	}
	left, right := s.(*piecewise).Ends(1)
	if e := at(s, 0); !floats.EqualApprox(left, e[3:6], 1e-14) {
		t.Errorf("left end %v, want %v", left, e[3:6])
	}
	if e := at(s, math.Nextafter(0.5, 0)); !floats.EqualApprox(right, e[3:6], 1e-14) {
		t.Errorf("right end %v, want %v", right, e[3:6])
	}
}

// Sinc and Hermite functions are orthonormal on the line; their values on the
// window are taken from spaces whose domain is wide enough for the integral.
func TestOnLineOrthonormal(t *testing.T) {
	hermite, err := Hermite(Interval{-30, 34}, 2, 1.5, 12)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 12 {
		for k := range 12 {
			got := integrateOver(-30, 34, 64, func(t float64) float64 { e := at(hermite, t); return e[j] * e[k] / 64 })
			want := 0.0
			if j == k {
				want = 1
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("⟨h%d,h%d⟩ = %g", j, k, got)
			}
		}
	}
	// ∫sinc(t−j)sinc(t−k)dt over [−L,L] differs from the Kronecker delta by less
	// than 2/(π²(L−max)).
	const l = 4000.0
	s, err := Sinc(Interval{-l, l}, 0, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 3 {
		for k := range 3 {
			got := integrateOver(-l, l, 8000, func(t float64) float64 { e := at(s, t); return e[j] * e[k] / (2 * l) })
			want := 0.0
			if j == k {
				want = 1
			}
			if math.Abs(got-want) > 1e-4 {
				t.Errorf("⟨sinc%d,sinc%d⟩ = %g", j, k, got)
			}
		}
	}
	for k := range 3 {
		e := at(s, float64(k))
		for j := range e {
			want := 0.0
			if j == k {
				want = math.Sqrt(2 * l)
			}
			if math.Abs(e[j]-want) > 1e-12 {
				t.Errorf("sinc %d at node %d: %g", j, k, e[j])
			}
		}
	}
}

// A Hermite function far out is small, not lost to underflow or overflow.
func TestHermiteFarOut(t *testing.T) {
	s, err := Hermite(Interval{0, 1}, 0, 1e-3, 2000)
	if err != nil {
		t.Fatal(err)
	}
	// |h_k| ≤ 0.8161 for all k and x.
	limit := 0.8161 * math.Sqrt(1e3)
	for _, u := range []float64{0, 0.01, 0.05, 0.06, 0.2, 1} {
		for k, v := range at(s, u) {
			if math.IsNaN(v) || math.Abs(v) > limit {
				t.Fatalf("h%d(%g) = %g", k, u, v)
			}
		}
	}
}

func TestOnLineForms(t *testing.T) {
	domain := Interval{10, 30}
	for _, text := range []string{"sinc:7", "hermite:5"} {
		s, err := Parse(text, domain)
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != text {
			t.Errorf("%q became %q", text, s)
		}
		data, _ := s.MarshalJSON()
		back, err := Unmarshal(data)
		if err != nil || !Equal(s, back) {
			t.Errorf("%s does not read back: %v", data, err)
		}
		want := 0.0
		const parts = 4000
		for i := range parts {
			a := s.Bound(10 + 20*(float64(i)+0.5)/parts)
			want += a * a / parts
		}
		if got := MeanSquareBound(s); math.Abs(got-want) > 1e-3*want || got > float64(s.Dim()) {
			t.Errorf("%s: mean square bound %g, want %g", text, got, want)
		}
	}
}

// [GEO] Remark 3.6: with the Gram matrix of 1, t on [0,1] for the L² inner product
// the space of polynomials of degree 1 comes back; with a diagonal one the
// functions are only scaled.
func TestWithGram(t *testing.T) {
	base, _ := Legendre(Interval{0, 4}, 3)
	g := [][]float64{{4, 0, 0}, {0, 1, 0.5}, {0, 0.5, 2}}
	s, err := WithGram(base, g)
	if err != nil {
		t.Fatal(err)
	}
	// Gᵉ = L⁻¹GL⁻ᵀ = I: express e in the base by three evaluations.
	b, e := mat.NewDense(3, 3, nil), mat.NewDense(3, 3, nil)
	for i, u := range []float64{0.3, 1.7, 3.9} {
		b.SetCol(i, at(base, u))
		e.SetCol(i, at(s, u))
	}
	var c, cg, got mat.Dense // e = C·b
	var inverse mat.Dense
	if err := inverse.Inverse(b); err != nil {
		t.Fatal(err)
	}
	c.Mul(e, &inverse)
	cg.Mul(&c, mat.NewDense(3, 3, []float64{4, 0, 0, 0, 1, 0.5, 0, 0.5, 2}))
	got.Mul(&cg, c.T())
	if !mat.EqualApprox(&got, mat.NewDiagDense(3, []float64{1, 1, 1}), 1e-12) {
		t.Errorf("Gram matrix of the basis: %v", mat.Formatted(&got))
	}
	data, _ := s.MarshalJSON()
	back, err := Unmarshal(data)
	if err != nil || !Equal(s, back) {
		t.Errorf("%s does not read back: %v", data, err)
	}
	for _, bad := range [][][]float64{
		{{1, 0, 0}, {0, 1, 0}},
		{{1, 0}, {0, 1, 0}, {0, 0, 1}},
		{{1, 2, 0}, {0, 1, 0}, {0, 0, 1}},
		{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}},
		{{1, 1, 0}, {1, 1, 0}, {0, 0, 1}},
		{{1, 0, 0}, {0, math.NaN(), 0}, {0, 0, 1}},
	} {
		if _, err := WithGram(base, bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// The paper's examples: a circle with a shift (Fig. 2a), two turns (Fig. 2b), an
// ellipse and a line with vector coefficients (Fig. 3). Gram matrices times the
// length of the domain are those stated.
func TestPaperVectorExamples(t *testing.T) {
	circle := func(rate float64) func([]float64, float64) {
		return func(dst []float64, t float64) { dst[1], dst[0] = math.Sincos(rate * t) }
	}
	constant := func(x, y float64) func([]float64, float64) {
		return func(dst []float64, _ float64) { dst[0], dst[1] = x, y }
	}
	for _, c := range []struct {
		length    float64
		functions []func([]float64, float64)
		diagonal  float64
	}{
		{2 * math.Pi, []func([]float64, float64){circle(1), constant(1, 0), constant(0, 1)}, 2 * math.Pi},
		{4 * math.Pi, []func([]float64, float64){circle(1), circle(0.5)}, 4 * math.Pi},
	} {
		v, err := Span(Interval{0, c.length}, 2, c.functions...)
		if err != nil {
			t.Fatal(err)
		}
		g := v.(*spanned).Gram()
		for j := range v.Dim() {
			for k := range v.Dim() {
				want := 0.0
				if j == k {
					want = c.diagonal
				}
				if got := g.At(j, k) * c.length; math.Abs(got-want) > 1e-11 {
					t.Errorf("Gram %d,%d = %g, want %g", j, k, got, want)
				}
			}
		}
	}
	// Ellipse: cos, sin with vector coefficients, Σ = (1/π)I; line: Σ = [[12/T³, −6/T²], [−6/T², 4/T]].
	scalar := func(f func(float64) float64) func([]float64, float64) {
		return func(dst []float64, t float64) { dst[0] = f(t) }
	}
	ellipse, err := Span(Interval{0, 2 * math.Pi}, 1, scalar(math.Cos), scalar(math.Sin))
	if err != nil {
		t.Fatal(err)
	}
	if got := ellipse.(*spanned).Gram().At(0, 0) * 2 * math.Pi; math.Abs(got-math.Pi) > 1e-12 {
		t.Errorf("∫cos² = %g", got)
	}
	line, err := Span(Interval{0, 4}, 1, scalar(func(t float64) float64 { return t }), scalar(func(float64) float64 { return 1 }))
	if err != nil {
		t.Fatal(err)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(line.(*spanned).Gram()); err != nil {
		t.Fatal(err)
	}
	inverse.Scale(1./4, &inverse)
	if !mat.EqualApprox(&inverse, mat.NewDense(2, 2, []float64{0.1875, -0.375, -0.375, 1}), 1e-12) {
		t.Errorf("Σ of the line: %v", mat.Formatted(&inverse))
	}
	// Orthonormal in the average of ⟨f,g⟩.
	v, _ := Span(Interval{0, 4}, 2, circle(1), func(dst []float64, t float64) { dst[0], dst[1] = t, 1 }, constant(1, 1))
	dst := make([]float64, 6)
	for j := range 3 {
		for k := range 3 {
			got := integrateOver(0, 4, 16, func(t float64) float64 {
				v.EvalVector(dst, t)
				return (dst[2*j]*dst[2*k] + dst[2*j+1]*dst[2*k+1]) / 4
			})
			want := 0.0
			if j == k {
				want = 1
			}
			if math.Abs(got-want) > 1e-12 {
				t.Errorf("⟨f%d,f%d⟩ = %g", j, k, got)
			}
		}
	}
	if _, err := Span(Interval{0, 1}, 2, constant(1, 0), constant(2, 0)); err == nil {
		t.Error("dependent functions are accepted")
	}
	w := Componentwise(ellipseSpace(t), 2)
	if w.Dim() != 6 || w.Components() != 2 {
		t.Errorf("componentwise: %d functions, %d components", w.Dim(), w.Components())
	}
}

func ellipseSpace(t *testing.T) Space {
	s, err := Fourier(Interval{0, 2 * math.Pi}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPolynomialBox(t *testing.T) {
	box := []Interval{{0, 2}, {-1, 1}, {3, 4}}
	s, err := PolynomialBox(box, 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Dim() != 20 {
		t.Errorf("dimension %d, want C(6,3) = 20", s.Dim())
	}
	x, w := make([]float64, 4), make([]float64, 4)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	gram := mat.NewDense(20, 20, nil)
	e := make([]float64, 20)
	for i := range x {
		for j := range x {
			for k := range x {
				s.Eval(e, []float64{2 * x[i], 2*x[j] - 1, 3 + x[k]})
				v := mat.NewVecDense(20, e)
				gram.RankOne(gram, w[i]*w[j]*w[k], v, v)
			}
		}
	}
	for j := range 20 {
		for k := range 20 {
			want := 0.0
			if j == k {
				want = 1
			}
			if math.Abs(gram.At(j, k)-want) > 1e-12 {
				t.Errorf("Gram %d,%d = %g", j, k, gram.At(j, k))
			}
		}
	}
	data, _ := s.MarshalJSON()
	back, err := UnmarshalPolynomials(data)
	if err != nil || back.String() != s.String() || back.String() != "polynomial3d:3" {
		t.Errorf("%s does not read back: %v", data, err)
	}
	if _, err := PolynomialBox(box, 100); err == nil {
		t.Error("176,851 functions are accepted")
	}
}

func TestNewKindsRefused(t *testing.T) {
	for _, c := range []struct{ json, says string }{
		{`{"kind":"piecewise","base":{"kind":"legendre","dim":2,"domain":[0,1]},"pieces":0,"domain":[0,1]}`, "pieces"},
		{`{"kind":"piecewise","base":{"kind":"legendre","dim":2,"domain":[0,1]},"pieces":1000000000,"domain":[0,1]}`, "pieces"},
		{`{"kind":"piecewise","base":{"kind":"piecewise","pieces":2,"domain":[0,1]},"pieces":2,"domain":[0,1]}`, "piecewise space on pieces"},
		{`{"kind":"piecewise","base":{"kind":"sinc","dim":2,"first":0,"spacing":1,"domain":[0,1]},"pieces":2,"domain":[0,1]}`, "average inner product"},
		{`{"kind":"piecewise","base":{"kind":"legendre","dim":2,"domain":[0,1]},"breaks":[0,0.7,0.5,1],"domain":[0,1]}`, "break"},
		{`{"kind":"piecewise","base":{"kind":"legendre","dim":2,"domain":[0,1]},"breaks":[0,0.5,2],"domain":[0,1]}`, "must agree"},
		{`{"kind":"piecewise","base":{"kind":"legendre","dim":2,"domain":[0,1]},"pieces":2,"extra":1,"domain":[0,1]}`, "extra"},
		{`{"kind":"sinc","dim":2,"first":0,"spacing":0,"domain":[0,1]}`, "positive"},
		{`{"kind":"sinc","dim":2,"spacing":1,"domain":[0,1]}`, "first"},
		{`{"kind":"hermite","dim":0,"centre":0,"scale":1,"domain":[0,1]}`, "at least 1"},
		{`{"kind":"gram","base":{"kind":"legendre","dim":2,"domain":[0,1]},"gram":[[1,0],[0,-1]],"domain":[0,1]}`, "positive definite"},
		{`{"kind":"gram","base":{"kind":"legendre","dim":2,"domain":[0,2]},"gram":[[1,0],[0,1]],"domain":[0,1]}`, "must agree"},
	} {
		_, err := Unmarshal([]byte(c.json))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", c.json, err, c.says)
		}
	}
	for _, text := range []string{"piecewise:8", "piecewise:0:legendre:2", "piecewise:x:legendre:2", "piecewise:2:sinc:4", "sinc:0", "hermite:", "piecewise:2000000:legendre:2"} {
		if s, err := Parse(text, Interval{0, 1}); err == nil {
			t.Errorf("%q gives %v", text, s)
		}
	}
}
