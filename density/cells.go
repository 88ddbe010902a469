package density

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/space"
)

// One variable: exact sums at a cost per point that does not grow with the rank.
//
// The domain is cut into equal cells. In cell g, of which the point lies at s ∈ [−1,1], every function is
//
//	√2cos(φ + θs) = √2cosφ·(J₀ + 2Σ(−1)^i J_{2i}T_{2i}(s)) − √2sinφ·2Σ(−1)^i J_{2i+1}T_{2i+1}(s),
//
// φ its phase in the middle of the cell, θ half its angle across the cell, J_m Bessel functions at θ and T_m
// Chebyshev polynomials (Jacobi and Anger; Abramowitz and Stegun 9.1.44–45). So a point adds its T₀…T₇ to its cell
// and nothing else. Each is rounded to an integer: sums over people are exact and do not depend on order or blocks,
// and a person's integers depend on that person's points alone. The coefficients are ONE linear map of these sums,
// with integer entries, applied without rounding, and then rounded once to the lattice of the release.
//
// The error against the function at a point of the box, which the account adds to the sensitivity, is slack:
// θ ≤ π/8, so the terms left out are at most √2·2Σ_{m≥8}(θ/2)^m/m!.

const (
	moments    = 8
	momentBits = 32 // a moment is a multiple of 2⁻³²
	cellBits   = 30 // a coefficient is a multiple of 2⁻³⁰
	tableBits  = 40 // of the sines and the Bessel values
)

// cells is immutable.
type cells struct {
	domain space.Interval
	kind   string
	dim    int
	count  int // of cells, a power of two
}

func newCells(s *space.Tensor) *cells {
	c := &cells{domain: s.Box()[0], kind: s.Kind(), dim: s.Dim(), count: 4}
	half := s.Rank() // half waves across the domain
	if c.kind == "fourier" {
		half *= 2
	}
	for c.count < 4*half {
		c.count *= 2
	}
	return c
}

// slack is the largest error of a coefficient's integer for one point, and what an average over several points adds:
// each of the moments of each cell is then rounded toward zero.
func (c *cells) slack() (point, average float64) {
	const theta = math.Pi / 8
	cut, sum, term := 0.0, 0.0, 1.0 // Σ_{m≥8} and Σ_{m<8} of (θ/2)^m/m! ≥ J_m(θ)
	for m := range 40 {
		if m > 0 {
			term *= theta / 2 / float64(m)
		}
		if m >= moments {
			cut += 2 * math.Sqrt2 * term
		} else {
			sum += 2 * math.Sqrt2 * term
		}
	}
	moment, table := math.Ldexp(0.5, -momentBits)+0x1p-48, math.Ldexp(1, -tableBits)
	// T₀ is exact, so that only the rest is rounded; a sine and a Bessel value are each off by less than table.
	point = cut + (sum-2*math.Sqrt2)*moment + (sum+2*moments)*table + math.Ldexp(0.5, -cellBits)
	return point * (1 + 1e-9), sum * math.Ldexp(float64(c.count), -momentBits) * (1 + 1e-9)
}

// limits bound a moment and the coefficients' integers.
func (c *cells) limits() (moment, coefficient int64) { return 1 << momentBits, 2 << cellBits }

// shift adds and subtracts like rounder, as an integer.
var shift = int64(math.Float64bits(rounder))

func toMoment(v float64) int64 {
	return int64(math.Float64bits(float64(v*(1<<momentBits))+rounder)) - shift
}

// add adds the moments of the point to the sums. Every product is rounded by itself: no machine may fuse it with a sum.
func (c *cells) add(sums []int64, x float64) {
	x = max(c.domain.A, min(c.domain.B, x))
	v := (x - c.domain.A) / (c.domain.B - c.domain.A) * float64(c.count)
	g := min(int(v), c.count-1)
	s := 2*(v-float64(g)) - 1 // exact
	t2 := float64(2*s*s) - 1
	t3 := float64(s * (2*t2 - 1))
	t4 := float64(2*t2*t2) - 1
	cell := (*[moments]int64)(sums[g*moments:])
	cell[0] += 1 << momentBits
	cell[1] += toMoment(s)
	cell[2] += toMoment(t2)
	cell[3] += toMoment(t3)
	cell[4] += toMoment(t4)
	cell[5] += toMoment(float64(2*t2*t3) - s)
	cell[6] += toMoment(float64(2*t3*t3) - 1)
	cell[7] += toMoment(float64(2*t3*t4) - s)
}

// coefficients is the tally of the coefficients' integers, of the constant 0.
func (c *cells) coefficients(t *lattice.Tally) (*lattice.Tally, error) {
	sums := t.Vector()
	// Phases are multiples of half a cell's angle: a period of the slowest function has 2·count cells for cosines,
	// count for Fourier functions.
	period := 4 * c.count
	if c.kind == "fourier" {
		period = 2 * c.count
	}
	cos := make([]int64, period)
	for i := range cos {
		cos[i] = int64(math.Round(math.Ldexp(math.Cos(2*math.Pi*float64(i)/float64(period)), tableBits)))
	}
	total := make([]int64, c.dim)
	for j := 1; j < c.dim; j++ {
		k, quarter := j, 0 // frequency; a sine is a cosine a quarter of a period late
		if c.kind == "fourier" {
			k = (j + 1) / 2
			if j%2 == 0 {
				quarter = period / 4
			}
		}
		bessel := besselAt(2 * math.Pi * float64(k) / float64(period))
		var even, odd [moments / 2]wide
		for g := range c.count { // all of them: how long a release takes does not tell which are empty
			at := k*(2*g+1) - quarter + period // cos(φ), for a sine of cos(φ − π/2)
			ce := cos[at&(period-1)]
			so := cos[(at+period/4)&(period-1)] // −sin(φ)
			cell := (*[moments]int64)(sums[g*moments:])
			for i := range moments / 2 {
				even[i].add(ce, cell[2*i])
				odd[i].add(so, cell[2*i+1])
			}
		}
		sum := new(big.Int)
		for i := range moments / 2 {
			sign := int64(1 - 2*(i%2))
			sum.Add(sum, new(big.Int).Mul(even[i].int(), big.NewInt(sign*bessel[2*i])))
			sum.Add(sum, new(big.Int).Mul(odd[i].int(), big.NewInt(sign*bessel[2*i+1])))
		}
		const drop = 2*tableBits + momentBits - cellBits
		sum.Add(sum, new(big.Int).Lsh(big.NewInt(1), drop-1))
		total[j] = sum.Rsh(sum, drop).Int64() // rounds down, so with the half to the nearest
	}
	_, limit := c.limits()
	out := lattice.NewTally(c.dim, limit)
	return out, out.Add(total, t.N())
}

// besselAt is √2·(J₀, 2J₁, …, 2J₇) at θ ≤ π/8, by their power series.
func besselAt(theta float64) (b [moments]int64) {
	for m := range b {
		term := 2 * math.Sqrt2
		if m == 0 {
			term = math.Sqrt2
		}
		for i := 1; i <= m; i++ {
			term *= theta / 2 / float64(i)
		}
		sum := 0.0
		for i := 1; i < 12; i++ {
			sum += term
			term *= -(theta / 2) * (theta / 2) / float64(i*(m+i))
		}
		b[m] = int64(math.Round(math.Ldexp(sum, tableBits)))
	}
	return b
}

// wide is a sum of products in 128 bits, two's complement: tables of 2⁴⁰ and moments that sum to less than 2⁶² in
// magnitude over all cells.
type wide struct{ hi, lo uint64 }

func (w *wide) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	hi -= uint64(a>>63&b) + uint64(b>>63&a)
	var carry uint64
	w.lo, carry = bits.Add64(w.lo, lo, 0)
	w.hi, _ = bits.Add64(w.hi, hi, carry)
}

func (w *wide) int() *big.Int {
	v := big.NewInt(int64(w.hi))
	return v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(w.lo))
}
