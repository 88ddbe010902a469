// The JSON form: an object tagged by "kind" that holds everything needed to evaluate the space identically.

package space

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

type dimensionalForm struct {
	Kind   string     `json:"kind"`
	Dim    int        `json:"dim"`
	Degree int        `json:"degree,omitempty"`
	Domain [2]float64 `json:"domain"`
}

type kernelForm struct {
	Kind     string      `json:"kind"`
	Kernel   string      `json:"kernel"`
	Scale    float64     `json:"scale,omitempty"`
	Relative bool        `json:"relative,omitempty"`
	Floor    float64     `json:"floor"`
	Domain   [2]float64  `json:"domain"`
	Grid     []float64   `json:"grid"`
	Factor   [][]float64 `json:"factor"`
}

func (d Interval) ends() [2]float64 { return [2]float64{d.A, d.B} }

// MarshalJSON is {"kind":"legendre","dim":…,"domain":[a,b]}.
func (s *legendre) MarshalJSON() ([]byte, error) {
	return json.Marshal(dimensionalForm{Kind: "legendre", Dim: s.Dim(), Domain: s.domain.ends()})
}

// MarshalJSON is {"kind":"fourier","dim":…,"domain":[a,b]}.
func (s *fourier) MarshalJSON() ([]byte, error) {
	return json.Marshal(dimensionalForm{Kind: "fourier", Dim: s.dim, Domain: s.domain.ends()})
}

// MarshalJSON is {"kind":"cosine","dim":…,"domain":[a,b]}.
func (s *cosine) MarshalJSON() ([]byte, error) {
	return json.Marshal(dimensionalForm{Kind: "cosine", Dim: s.dim, Domain: s.domain.ends()})
}

// MarshalJSON is {"kind":"bspline","dim":…,"degree":…,"domain":[a,b]}.
func (s *bspline) MarshalJSON() ([]byte, error) {
	return json.Marshal(dimensionalForm{Kind: "bspline", Dim: s.dim, Degree: s.degree, Domain: s.domain.ends()})
}

// MarshalJSON holds the kernel, the grid, the floor and the factor F, one row per grid point, e(t) = Fᵀk_T(t).
func (s *KernelSpace) MarshalJSON() ([]byte, error) {
	form := kernelForm{Kind: "kernel", Kernel: s.kern.name, Scale: s.kern.scale, Relative: s.kern.relative,
		Floor: s.floor, Domain: s.grid.Domain.ends(), Grid: s.grid.T}
	for j := range s.grid.T {
		form.Factor = append(form.Factor, s.factor[j*s.dim:(j+1)*s.dim])
	}
	return json.Marshal(form)
}

// Unmarshal reads a space from its JSON form. It refuses a kind, a kernel or a field that it does not know,
// a missing or repeated field, sizes beyond MaxDim and MaxGrid, numbers that are not finite, and a factor
// that is not orthonormal for its kernel and grid.
func Unmarshal(data []byte) (Space, error) {
	fields, err := objectFields(data)
	if err != nil {
		return nil, err
	}
	var kind string
	if err := fields.take("kind", &kind); err != nil {
		return nil, err
	}
	var ends []float64
	if err := fields.takeFloats("domain", &ends, 2); err != nil {
		return nil, err
	}
	if len(ends) != 2 {
		return nil, fmt.Errorf("space: json: domain has %d numbers: it is [start, end]", len(ends))
	}
	domain := Interval{ends[0], ends[1]}
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	if kind == "kernel" {
		return unmarshalKernel(fields, domain)
	}
	if s, known, err := unmarshalMore(kind, fields, domain); known {
		return s, err
	}
	build, known := dimensional[kind]
	if !known {
		return nil, fmt.Errorf("space: json: unknown kind %q: this version reads %s, kernel, piecewise, sinc, hermite and gram; a newer curveil may read it", kind, strings.Join(kinds(), ", "))
	}
	var dim int
	if err := fields.take("dim", &dim); err != nil {
		return nil, err
	}
	if kind == "bspline" {
		var degree int
		if err := fields.take("degree", &degree); err != nil {
			return nil, err
		}
		if err := fields.rest(kind); err != nil {
			return nil, err
		}
		return BSpline(domain, dim, Degree(degree))
	}
	if err := fields.rest(kind); err != nil {
		return nil, err
	}
	return build(domain, dim)
}

func unmarshalKernel(fields object, domain Interval) (Space, error) {
	s := &KernelSpace{grid: Grid{Domain: domain}}
	if err := fields.take("kernel", &s.kern.name); err != nil {
		return nil, err
	}
	if fields.has("scale") {
		if err := fields.take("scale", &s.kern.scale); err != nil {
			return nil, err
		}
	}
	if fields.has("relative") {
		if err := fields.take("relative", &s.kern.relative); err != nil {
			return nil, err
		}
	}
	if err := fields.take("floor", &s.floor); err != nil {
		return nil, err
	}
	if err := checkFloor(s.floor); err != nil {
		return nil, err
	}
	var err error
	if s.at, err = s.kern.bind(domain); err != nil {
		return nil, err
	}
	if err := fields.takeFloats("grid", &s.grid.T, MaxGrid); err != nil {
		return nil, err
	}
	if err := s.grid.Validate(); err != nil {
		return nil, err
	}
	if err := fields.takeFactor(s); err != nil {
		return nil, err
	}
	if err := fields.rest("kernel"); err != nil {
		return nil, err
	}
	if err := s.checkOrthonormal(); err != nil {
		return nil, err
	}
	s.prepare()
	return s, nil
}

// checkOrthonormal refuses a factor with FᵀK_TF ≠ I, up to the rounding of the eigensolver, ε·T·‖K‖ in the
// eigenvectors, that the division by √λ magnifies.
func (s *KernelSpace) checkOrthonormal() error {
	n, p := len(s.grid.T), s.dim
	gram := mat.NewSymDense(n, nil)
	size := 0.0
	row := make([]float64, n)
	for i, ti := range s.grid.T {
		for j := i; j < n; j++ {
			k := s.at.at(ti, s.grid.T[j])
			gram.SetSym(i, j, k)
			row[i] += k
			if j > i {
				row[j] += k
			}
		}
		size = math.Max(size, row[i])
	}
	f := mat.NewDense(n, p, s.factor)
	var kf, g mat.Dense
	kf.Mul(gram, f)
	g.Mul(f.T(), &kf)
	lengths := make([]float64, p)
	for k := range lengths {
		lengths[k] = mat.Norm(f.ColView(k), 2)
	}
	for k := range p {
		for l := range p {
			want := 0.0
			if k == l {
				want = 1
			}
			slack := 1e-9 + 4*float64(n)*0x1p-52*size*lengths[k]*lengths[l]
			// Written so that NaN and Inf, from absurd entries, are refused too.
			if !(math.Abs(g.At(k, l)-want) <= math.Min(slack, 0.6)) {
				return fmt.Errorf("space: json: the factor is not orthonormal for kernel %v and its grid (functions %d and %d have inner product %.3g): the file was changed or damaged", s.kern, k+1, l+1, g.At(k, l))
			}
		}
	}
	return nil
}
