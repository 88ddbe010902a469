// A kernel on a grid t₁…t_T: K_T = UΛUᵀ, e_k(t) = u_kᵀk_T(t)/√λ_k with k_T(t) = (K(t₁,t),…,K(t_T,t)). The
// e_k are orthonormal in the reproducing kernel Hilbert space, because ⟨K(s,·),K(t,·)⟩ = K(s,t).
//
// The basis is kept, and stored in the JSON form, as the factor F = UΛ^{−1/2}, e(t) = Fᵀk_T(t). Kernel and
// grid alone would not do: eigenvectors of (nearly) equal eigenvalues may come out rotated, and a mode next
// to the floor may come or go, on another processor or another version of the eigensolver, and the stored
// coefficients of a release would then mean another function.

package space

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// DefaultFloor is the eigenvalue, relative to the largest, at and below which modes of a kernel are dropped.
const DefaultFloor = 1e-8

// KernelSpace is the space of a kernel on a grid; made by Kernel, or decoded from JSON.
type KernelSpace struct {
	kern      Kern
	at        boundKern
	grid      Grid
	floor     float64
	dim       int
	factor    []float64 // T×Dim by rows: UΛ^{−1/2}
	markov    markov
	chebyshev chebyshev
}

// A KernelOption changes how Kernel builds its space.
type KernelOption func(*KernelSpace)

// Floor keeps the modes whose eigenvalue is more than the given fraction of the largest, DefaultFloor if
// the option is absent. 0 keeps those that are positive beyond rounding, 8·T·2⁻⁵² of the largest.
func Floor(fraction float64) KernelOption {
	return func(s *KernelSpace) { s.floor = fraction }
}

// Kernel is the span of the leading eigenfunctions of the kernel on the grid, by falling eigenvalue, with
// the norm of the reproducing kernel Hilbert space. Dim is decided by the floor. The sign of a function is
// that which makes its largest weight on the grid, the first of several equal ones, positive. It refuses an
// invalid grid, scale or floor, and a kernel that is zero on the whole grid. The result is a *KernelSpace.
func Kernel(k Kern, grid Grid, opts ...KernelOption) (Space, error) {
	if err := grid.Validate(); err != nil {
		return nil, err
	}
	s := &KernelSpace{kern: k, floor: DefaultFloor}
	for _, o := range opts {
		o(s)
	}
	if err := checkFloor(s.floor); err != nil {
		return nil, err
	}
	var err error
	if s.at, err = k.bind(grid.Domain); err != nil {
		return nil, err
	}
	s.grid = Grid{Domain: grid.Domain, T: append([]float64(nil), grid.T...)}
	if err := s.decompose(); err != nil {
		return nil, err
	}
	s.prepare()
	return s, nil
}

func checkFloor(floor float64) error {
	if math.IsNaN(floor) || floor < 0 || floor >= 1 {
		return fmt.Errorf("space: eigenvalue floor %s: give a fraction of the largest eigenvalue, at least 0 and below 1 (default %g)", formatFloat(floor), DefaultFloor)
	}
	return nil
}

func (s *KernelSpace) decompose() error {
	n := len(s.grid.T)
	gram := mat.NewSymDense(n, nil)
	for i, ti := range s.grid.T {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, s.at.at(ti, s.grid.T[j]))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(gram, true) {
		return fmt.Errorf("space: kernel %v: the eigenvalues of its %d×%d matrix did not converge: use fewer grid points", s.kern, n, n)
	}
	values := eig.Values(nil)
	largest := values[n-1]
	if largest <= 0 {
		return fmt.Errorf("space: kernel %v is zero on the whole grid: add grid points where it is not", s.kern)
	}
	cut := largest * math.Max(s.floor, 8*float64(n)*0x1p-52)
	for s.dim < n && values[n-1-s.dim] > cut {
		s.dim++
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	s.factor = make([]float64, n*s.dim)
	for k := range s.dim {
		col := n - 1 - k
		scale := signOf(&vectors, col) / math.Sqrt(values[col])
		for j := range n {
			s.factor[j*s.dim+k] = scale * vectors.At(j, col)
		}
	}
	return nil
}

// signOf is the sign of the largest entry of a column; entries equal up to rounding, as in the vectors of a
// symmetric grid, count as equal and the first decides.
func signOf(v *mat.Dense, col int) float64 {
	n, _ := v.Dims()
	largest := 0.0
	for j := range n {
		largest = math.Max(largest, math.Abs(v.At(j, col)))
	}
	for j := range n {
		if x := v.At(j, col); math.Abs(x) >= largest*(1-1e-6) {
			return math.Copysign(1, x)
		}
	}
	return 1
}

func (s *KernelSpace) Dim() int         { return s.dim }
func (s *KernelSpace) Domain() Interval { return s.grid.Domain }

// Kern is the kernel.
func (s *KernelSpace) Kern() Kern { return s.kern }

// Grid is a copy of the grid.
func (s *KernelSpace) Grid() Grid {
	return Grid{Domain: s.grid.Domain, T: append([]float64(nil), s.grid.T...)}
}

// Floor is the fraction of the largest eigenvalue at and below which modes were dropped.
func (s *KernelSpace) Floor() float64 { return s.floor }

// Eigenvalues are the Dim eigenvalues of K_T that were kept, falling.
func (s *KernelSpace) Eigenvalues() []float64 {
	values := make([]float64, s.dim)
	for j := range s.grid.T {
		for k := range values {
			f := s.factor[j*s.dim+k]
			values[k] += f * f
		}
	}
	for k := range values {
		values[k] = 1 / values[k]
	}
	return values
}

func (s *KernelSpace) Eval(dst []float64, t float64) {
	checkLen(dst, s.dim)
	t = s.grid.Domain.clamp(t)
	clear(dst)
	switch {
	case math.IsNaN(t):
		for i := range dst {
			dst[i] = t
		}
	case s.markov.terms > 0:
		s.markov.eval(dst, s, t)
	case s.chebyshev.cells > 0:
		s.chebyshev.eval(dst, s.grid.Domain.unit(t))
	default:
		s.direct(dst, t)
	}
}

// prepare makes the tables of the fast evaluation, where the kernel has one.
func (s *KernelSpace) prepare() {
	s.prepareMarkov()
	s.prepareChebyshev()
}

// direct adds e(t) to dst by the definition.
func (s *KernelSpace) direct(dst []float64, t float64) {
	p := s.dim
	for j, tj := range s.grid.T {
		if k := s.at.at(tj, t); k != 0 {
			floats.AddScaled(dst, k, s.factor[j*p:j*p+p])
		}
	}
}

// Bound is ‖e(t)‖₂ ≤ √K(t,t); the two differ by the dropped modes and, between grid points, by what the
// grid does not see.
func (s *KernelSpace) Bound(t float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, t) })
}

func (s *KernelSpace) String() string {
	n := len(s.grid.T)
	text := "kernel:" + s.kern.String()
	if !sameGrid(s.grid, defaultGrid(s.kern, s.grid.Domain, n)) {
		return text + " on " + strconv.Itoa(n) + " given points"
	}
	if n != DefaultGrid {
		text += ":" + strconv.Itoa(n)
	}
	if s.floor != DefaultFloor {
		text += ":floor=" + formatFloat(s.floor)
	}
	return text
}
