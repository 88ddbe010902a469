// Any inner product, given by the Gram matrix of a basis ([GEO] Remark 3.6).

package space

import (
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

type gram struct {
	base Space
	g    *mat.SymDense
	l    mat.Cholesky
}

// WithGram is the span of the base with another inner product, G_jk = ⟨b_j, b_k⟩ for the base's functions b:
// e = L⁻¹b with G = LLᵀ, so that a function Σ a_j b_j has the squared norm aᵀGa, and coordinates Lᵀa. A diagonal G
// weighs the base's functions; the Gram matrix of derivatives gives a Sobolev norm. It refuses a matrix that
// is not symmetric, positive definite and of condition below 1e12.
func WithGram(base Space, g [][]float64) (Space, error) {
	p := base.Dim()
	if len(g) != p {
		return nil, fmt.Errorf("space: gram matrix of %d rows for %v: it needs %d", len(g), base, p)
	}
	for j, row := range g {
		if len(row) != p {
			return nil, fmt.Errorf("space: gram matrix: row %d has %d numbers: it needs %d", j+1, len(row), p)
		}
	}
	s := &gram{base: base, g: mat.NewSymDense(p, nil)}
	for j, row := range g {
		for k, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) || v != g[k][j] {
				return nil, fmt.Errorf("space: gram matrix: entries %d,%d and %d,%d are %g and %g: a symmetric matrix of finite numbers is needed", j+1, k+1, k+1, j+1, v, g[k][j])
			}
			s.g.SetSym(j, k, v)
		}
	}
	if !s.l.Factorize(s.g) || s.l.Cond() > 1e12 {
		return nil, fmt.Errorf("space: gram matrix is not positive definite, or its condition is above 1e12: the functions are nearly dependent in this inner product, leave some out")
	}
	return s, nil
}

func (s *gram) Dim() int         { return s.base.Dim() }
func (s *gram) Domain() Interval { return s.base.Domain() }
func (s *gram) String() string   { return fmt.Sprintf("%v with a given inner product", s.base) }

func (s *gram) Eval(dst []float64, t float64) {
	checkLen(dst, s.Dim())
	s.base.Eval(dst, t)
	// Forward substitution with L, row by row; U = Lᵀ is what the factorisation stores.
	u := s.l.RawU().(*mat.TriDense).RawTriangular()
	for j := range dst {
		v := dst[j]
		for k := range j {
			v -= u.Data[k*u.Stride+j] * dst[k]
		}
		dst[j] = v / u.Data[j*u.Stride+j]
	}
}

func (s *gram) Bound(t float64) float64 {
	return boundByEval(s.Dim(), func(dst []float64) { s.Eval(dst, t) })
}

func (s *gram) meanSquareBound() float64 { return meanSquareOf(s, 64*s.Dim()) }

// MarshalJSON is {"kind":"gram","base":{…},"gram":[[…],…],"domain":[a,b]}.
func (s *gram) MarshalJSON() ([]byte, error) {
	rows := make([][]float64, s.Dim())
	for j := range rows {
		rows[j] = make([]float64, s.Dim())
		for k := range rows[j] {
			rows[j][k] = s.g.At(j, k)
		}
	}
	return json.Marshal(struct {
		Kind   string      `json:"kind"`
		Base   Space       `json:"base"`
		Gram   [][]float64 `json:"gram"`
		Domain [2]float64  `json:"domain"`
	}{"gram", s.base, rows, s.Domain().ends()})
}

func unmarshalGram(fields object, domain Interval) (Space, error) {
	var inner json.RawMessage
	if err := fields.take("base", &inner); err != nil {
		return nil, err
	}
	innerFields, err := objectFields(inner)
	if err != nil {
		return nil, err
	}
	if string(innerFields["kind"]) == `"gram"` {
		return nil, fmt.Errorf("space: json: an inner product on a space with a given inner product: give one matrix")
	}
	base, err := Unmarshal(inner)
	if err != nil {
		return nil, fmt.Errorf("%w (of the base)", err)
	}
	if base.Domain() != domain {
		return nil, fmt.Errorf("space: json: the base is on %v, the domain is %v: they must agree", base.Domain(), domain)
	}
	var g [][]float64
	if err := fields.take("gram", &g); err != nil {
		return nil, err
	}
	if err := fields.rest("gram"); err != nil {
		return nil, err
	}
	return WithGram(base, g)
}
