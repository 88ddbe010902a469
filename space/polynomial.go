// Polynomials in several variables on a box, by total degree, as products of Legendre polynomials.

package space

import (
	"encoding/json"
	"fmt"
)

type polynomials struct {
	box    []Interval
	degree int
	axes   []Space
	index  [][]int // by function: the degree in each variable
}

var _ BoxSpace = (*polynomials)(nil)

// PolynomialBox is the space of polynomials of total degree at most degree in len(box) variables, orthonormal
// in the average over the box; the last variable's degree rises fastest. It refuses an invalid side, a
// negative degree, and a dimension over MaxDim.
func PolynomialBox(box []Interval, degree int) (BoxSpace, error) {
	if len(box) < 1 || len(box) > MaxVariables {
		return nil, fmt.Errorf("space: a box of %d variables: give between 1 and %d", len(box), MaxVariables)
	}
	if degree < 0 || degree >= MaxDim {
		return nil, fmt.Errorf("space: polynomials of degree %d: give 0 to %d", degree, MaxDim-1)
	}
	dim := 1 // (degree+1)…(degree+d)/d!
	for i := range box {
		if dim = dim * (degree + i + 1) / (i + 1); dim > MaxDim {
			return nil, fmt.Errorf("space: polynomials of degree %d in %d variables are more than %d functions: take a lower degree", degree, len(box), MaxDim)
		}
	}
	s := &polynomials{degree: degree}
	for i, side := range box {
		axis, err := Legendre(side, degree+1)
		if err != nil {
			return nil, fmt.Errorf("%w (variable %d)", err, i+1)
		}
		s.box, s.axes = append(s.box, side), append(s.axes, axis)
	}
	s.list(make([]int, len(box)), 0, degree)
	return s, nil
}

// list appends all degrees of the variables from axis on with at most left in all.
func (s *polynomials) list(index []int, axis, left int) {
	if axis == len(index) {
		s.index = append(s.index, append([]int(nil), index...))
		return
	}
	for k := range left + 1 {
		index[axis] = k
		s.list(index, axis+1, left-k)
	}
	index[axis] = 0
}

func (s *polynomials) Dim() int        { return len(s.index) }
func (s *polynomials) Box() []Interval { return s.box }

// String is "polynomial2d:3".
func (s *polynomials) String() string { return fmt.Sprintf("polynomial%dd:%d", len(s.box), s.degree) }

// Eval sets dst to the functions at x.
func (s *polynomials) Eval(dst, x []float64) {
	checkLen(dst, len(s.index))
	if len(x) != len(s.axes) {
		panic(fmt.Sprintf("space: Eval: %d coordinates in a box of %d variables", len(x), len(s.axes)))
	}
	for k := range dst {
		dst[k] = 1
	}
	var room [64]float64
	for i, axis := range s.axes {
		e := room[:]
		if s.degree < len(room) {
			e = e[:s.degree+1]
		} else {
			e = make([]float64, s.degree+1)
		}
		axis.Eval(e, x[i])
		for k, index := range s.index {
			dst[k] *= e[index[i]]
		}
	}
}

func (s *polynomials) Bound(x []float64) float64 {
	return boundByEval(len(s.index), func(dst []float64) { s.Eval(dst, x) })
}

type polynomialForm struct {
	Kind   string       `json:"kind"`
	Degree int          `json:"degree"`
	Box    [][2]float64 `json:"box"`
}

// MarshalJSON is {"kind":"polynomial","degree":…,"box":[[a₁,b₁],…]}.
func (s *polynomials) MarshalJSON() ([]byte, error) {
	form := polynomialForm{Kind: "polynomial", Degree: s.degree}
	for _, side := range s.box {
		form.Box = append(form.Box, side.ends())
	}
	return json.Marshal(form)
}

// UnmarshalPolynomials reads what MarshalJSON of a PolynomialBox writes, as strictly as Unmarshal.
func UnmarshalPolynomials(data []byte) (BoxSpace, error) {
	if len(data) > 4096 {
		return nil, fmt.Errorf("space: json: a space on a box of %d bytes: it has at most %d variables", len(data), MaxVariables)
	}
	fields, err := objectFields(data)
	if err != nil {
		return nil, err
	}
	var kind string
	var degree int
	var sides [][]float64
	for name, to := range map[string]any{"kind": &kind, "degree": &degree, "box": &sides} {
		if err := fields.take(name, to); err != nil {
			return nil, err
		}
	}
	if err := fields.rest("polynomial"); err != nil {
		return nil, err
	}
	if kind != "polynomial" {
		return nil, fmt.Errorf("space: json: kind %q: expected polynomial", kind)
	}
	var box []Interval
	for i, ends := range sides {
		if len(ends) != 2 {
			return nil, fmt.Errorf("space: json: variable %d of box has %d numbers: it is [start, end]", i+1, len(ends))
		}
		box = append(box, Interval{ends[0], ends[1]})
	}
	return PolynomialBox(box, degree)
}
