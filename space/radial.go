// A radial kernel of several variables on public centres c₁…c_J of a box: K_J = UΛUᵀ, e_k(x) = u_kᵀk_J(x)/√λ_k, as in
// one variable (kernel.go), and stored as the factor F = UΛ^{−1/2} for the same reason.

package space

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Radial is the space of a radial kernel on centres in a box; made by NewRadial, or decoded from JSON. Unlike the other
// spaces on a box its inner product is that of the reproducing kernel Hilbert space. Eval costs O(J·Dim). It is
// immutable and safe for concurrent use.
type Radial struct {
	kern    Kern
	at      boundKern // a kernel of the distance, which is measured in units of the box for a relative scale
	box     []Interval
	floor   float64
	centres [][]float64
	dim     int
	factor  []float64 // J×Dim by rows
}

var _ BoxSpace = (*Radial)(nil)

// radialKernels are positive definite functions of the Euclidean distance in any number of variables.
var radialKernels = []string{"gauss", "laplace", "matern32", "matern52"}

// NewRadial is the span of the leading eigenfunctions of the kernel on the centres, by falling eigenvalue above the
// floor (a fraction of the largest; DefaultFloor is usual). The kernel is [Gaussian], [Laplace], [Matern32] or
// [Matern52] of the Euclidean distance: in the variables' own units, so they must agree, or, if it is [Kern.Relative],
// each as a part of the box's side. It refuses other kernels, centres outside the box or given twice, and
// more than MaxGrid.
func NewRadial(k Kern, box []Interval, centres [][]float64, floor float64) (*Radial, error) {
	s := &Radial{kern: k, box: append([]Interval(nil), box...), floor: floor}
	for _, c := range centres {
		s.centres = append(s.centres, append([]float64(nil), c...))
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	n := len(s.centres)
	var eig mat.EigenSym
	if !eig.Factorize(s.gram(), true) {
		return nil, fmt.Errorf("space: kernel %v: the eigenvalues of its %d×%d matrix did not converge: use fewer centres", k, n, n)
	}
	values := eig.Values(nil)
	cut := values[n-1] * math.Max(floor, 8*float64(n)*0x1p-52)
	for s.dim < n && values[n-1-s.dim] > cut {
		s.dim++
	}
	var vectors mat.Dense
	eig.VectorsTo(&vectors)
	s.factor = make([]float64, n*s.dim)
	for l := range s.dim {
		col := n - 1 - l
		scale := signOf(&vectors, col) / math.Sqrt(values[col])
		for j := range n {
			s.factor[j*s.dim+l] = scale * vectors.At(j, col)
		}
	}
	return s, nil
}

// Centres are the points of a regular grid on the box, n₁×…×n_d of them at the middles of equal cells.
func Centres(box []Interval, perAxis ...int) ([][]float64, error) {
	if len(perAxis) != len(box) {
		return nil, fmt.Errorf("space: %d numbers of centres for a box of %d variables: give one for each", len(perAxis), len(box))
	}
	points := [][]float64{nil}
	for i, d := range box {
		n := perAxis[i]
		if n < 1 || n > MaxGrid || n*len(points) > MaxGrid {
			return nil, fmt.Errorf("space: %v centres: between 1 and %d in all are accepted", perAxis, MaxGrid)
		}
		var next [][]float64
		for _, p := range points {
			for j := range n {
				next = append(next, append(append([]float64(nil), p...), d.A+d.Length()*(float64(j)+0.5)/float64(n)))
			}
		}
		points = next
	}
	return points, nil
}

func (s *Radial) check() error {
	if len(s.box) < 1 || len(s.box) > MaxVariables {
		return fmt.Errorf("space: a box of %d variables: between 1 and %d are accepted", len(s.box), MaxVariables)
	}
	for _, d := range s.box {
		if err := d.Validate(); err != nil {
			return err
		}
	}
	if err := checkFloor(s.floor); err != nil {
		return err
	}
	known := false
	for _, name := range radialKernels {
		known = known || s.kern.name == name
	}
	if !known {
		return fmt.Errorf("space: kernel %v of several variables: the radial ones are %s", s.kern, strings.Join(radialKernels, ", "))
	}
	var err error
	if s.at, err = s.kern.bind(Interval{0, 1}); err != nil {
		return err
	}
	if len(s.centres) < 1 || len(s.centres) > MaxGrid {
		return fmt.Errorf("space: %d centres: between 1 and %d are accepted", len(s.centres), MaxGrid)
	}
	for j, c := range s.centres {
		if len(c) != len(s.box) {
			return fmt.Errorf("space: centre %d has %d coordinates, the box has %d variables", j+1, len(c), len(s.box))
		}
		for i, d := range s.box {
			if !d.Contains(c[i]) {
				return fmt.Errorf("space: centre %d has coordinate %v outside %v", j+1, c[i], d)
			}
		}
		for l := range j {
			if s.distance(c, s.centres[l]) == 0 {
				return fmt.Errorf("space: centres %d and %d are the same point: give each once", l+1, j+1)
			}
		}
	}
	return nil
}

// distance is Euclidean, with every x taken to the nearest point of the box.
func (s *Radial) distance(c, x []float64) float64 {
	sum := 0.0
	for i, d := range s.box {
		z := d.clamp(x[i]) - c[i]
		if s.kern.relative {
			z /= d.Length()
		}
		sum += z * z
	}
	return math.Sqrt(sum)
}

func (s *Radial) gram() *mat.SymDense {
	n := len(s.centres)
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, s.at.at(s.distance(s.centres[i], s.centres[j]), 0))
		}
	}
	return gram
}

// Dim is the number of kept eigenfunctions.
func (s *Radial) Dim() int { return s.dim }

// Box holds the domain of each variable; the slice must not be changed.
func (s *Radial) Box() []Interval { return s.box }

// Eval sets dst to e(x).
func (s *Radial) Eval(dst, x []float64) {
	checkLen(dst, s.dim)
	if len(x) != len(s.box) {
		panic(fmt.Sprintf("space: Eval: len(x) = %d, but the box has %d variables", len(x), len(s.box)))
	}
	clear(dst)
	p := s.dim
	for j, c := range s.centres {
		// Written so that a NaN distance reaches dst.
		if k := s.at.at(s.distance(c, x), 0); k != 0 {
			floats.AddScaled(dst, k, s.factor[j*p:j*p+p])
		}
	}
}

// Bound is ‖e(x)‖₂ ≤ 1.
func (s *Radial) Bound(x []float64) float64 {
	return boundByEval(s.dim, func(dst []float64) { s.Eval(dst, x) })
}

// String describes the space; it has no text form that ParseBox reads.
func (s *Radial) String() string {
	return fmt.Sprintf("kernel%dd:%v on %d centres", len(s.box), s.kern, len(s.centres))
}

type radialForm struct {
	Kind     string       `json:"kind"`
	Kernel   string       `json:"kernel"`
	Scale    float64      `json:"scale"`
	Relative bool         `json:"relative"`
	Floor    float64      `json:"floor"`
	Box      [][2]float64 `json:"box"`
	Centres  [][]float64  `json:"centres"`
	Factor   [][]float64  `json:"factor"`
}

// MarshalJSON is {"kind":"radial","kernel":…,"scale":…,"relative":…,"floor":…,"box":[[a,b],…],"centres":[[…],…],
// "factor":[[…],…]} with one row of the factor per centre.
func (s *Radial) MarshalJSON() ([]byte, error) {
	form := radialForm{Kind: "radial", Kernel: s.kern.name, Scale: s.kern.scale, Relative: s.kern.relative, Floor: s.floor, Centres: s.centres}
	for _, d := range s.box {
		form.Box = append(form.Box, d.ends())
	}
	for j := range s.centres {
		form.Factor = append(form.Factor, s.factor[j*s.dim:(j+1)*s.dim])
	}
	return json.Marshal(form)
}

// maxRadialBytes bounds the JSON of a radial space before anything is allocated for it.
const maxRadialBytes = 64 << 20

// UnmarshalBoxSpace reads any space on a box from its JSON form: a [Tensor], a [Radial], or polynomials.
func UnmarshalBoxSpace(data []byte) (BoxSpace, error) {
	if len(data) > maxRadialBytes {
		return nil, fmt.Errorf("space: json: a space of %d bytes: at most %d are accepted", len(data), maxRadialBytes)
	}
	fields, err := objectFields(data)
	if err != nil {
		return nil, err
	}
	switch string(fields["kind"]) {
	case `"radial"`:
	case `"polynomial"`:
		return UnmarshalPolynomials(data)
	default:
		t, err := UnmarshalBox(data)
		if err != nil {
			return nil, err
		}
		return t, nil
	}
	var kind string
	s := &Radial{}
	var box, rows [][]float64
	for name, to := range map[string]any{"kind": &kind, "kernel": &s.kern.name, "scale": &s.kern.scale, "relative": &s.kern.relative,
		"floor": &s.floor, "box": &box, "centres": &s.centres, "factor": &rows} {
		if err := fields.take(name, to); err != nil {
			return nil, err
		}
	}
	if err := fields.rest("radial"); err != nil {
		return nil, err
	}
	for i, ends := range box {
		if len(ends) != 2 {
			return nil, fmt.Errorf("space: json: variable %d of box has %d numbers: it is [start, end]", i+1, len(ends))
		}
		s.box = append(s.box, Interval{ends[0], ends[1]})
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	n := len(s.centres)
	if len(rows) != n {
		return nil, fmt.Errorf("space: json: factor has %d rows: it needs one for each of the %d centres", len(rows), n)
	}
	if s.dim = len(rows[0]); s.dim < 1 || s.dim > n {
		return nil, fmt.Errorf("space: json: factor has %d columns: %d centres have between 1 and %d", s.dim, n, n)
	}
	for j, row := range rows {
		if len(row) != s.dim {
			return nil, fmt.Errorf("space: json: row %d of factor has %d numbers, row 1 has %d: they must be equally long", j+1, len(row), s.dim)
		}
		s.factor = append(s.factor, row...)
	}
	if err := s.checkOrthonormal(); err != nil {
		return nil, err
	}
	return s, nil
}

// checkOrthonormal is that of KernelSpace: FᵀKF = I up to what the eigensolver and the division by √λ lose.
func (s *Radial) checkOrthonormal() error {
	n, p := len(s.centres), s.dim
	gram := s.gram()
	f := mat.NewDense(n, p, s.factor)
	var kf, g mat.Dense
	kf.Mul(gram, f)
	g.Mul(f.T(), &kf)
	size := mat.Norm(gram, 1)
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
			if !(math.Abs(g.At(k, l)-want) <= math.Min(slack, 0.6)) {
				return fmt.Errorf("space: json: the factor is not orthonormal for kernel %v and its centres (functions %d and %d have inner product %.3g): the file was changed or damaged", s.kern, k+1, l+1, g.At(k, l))
			}
		}
	}
	return nil
}
