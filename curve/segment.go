package curve

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// piece is one of the 2^level equal pieces of the window.
type piece struct{ level, index int }

// segmentation is a run of [GEO] Algorithm 4 or 8: the pieces it found.
type segmentation struct {
	*budget
	draws
	pyramid    *fit.Pyramid
	dim        float64 // m·n, of one piece
	beta       float64
	depth      int // k₁, levels of checks
	pieces     []piece
	checks     []check // of reduce, in call order; for tests
	concentric bool    // concentrated
}

// check is one noisy check of reduce.
type check struct {
	part     piece
	grid     int
	err      float64
	lhs, rhs float64
	accepted bool
}

// segment is [GEO] Algorithms 4 and 5 (GP), 8 and 9 (CGP): a sparse vector run
// picks the number 2^k̄ of equal pieces, at a quarter of the budget; reduce tries
// to halve it where the curve is simple, at most a sixteenth for each quarter of
// the window; all that is left, on any path, releases the coordinates.
func (p *Privatizer) segment(c fit.Curve, b *budget, d draws) (*Result, error) {
	m, n := p.config.Polynomials, len(p.config.Components)
	pyramid, err := p.pyramid(c, m)
	if err != nil {
		return nil, err
	}
	defer p.pyramids.Put(pyramid)
	s := &segmentation{budget: b, draws: d, pyramid: pyramid, dim: float64(m * n), beta: p.config.Beta}
	if err := s.find(p.config.Reduce); err != nil {
		return nil, err
	}
	given, err := b.rest("release")
	if err != nil {
		return nil, err
	}
	coordinates := make([]float64, 0, len(s.pieces)*m*n)
	for _, q := range s.pieces {
		coordinates = append(coordinates, pyramid.Coordinates(q.level)[q.index*m*n:(q.index+1)*m*n]...)
	}
	if err := d.vector(given, coordinates, coordinates); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	law, err := noiseOf(given)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	sp, err := p.pieces(s.pieces, m)
	if err != nil {
		return nil, err
	}
	if p.config.Continuous {
		if err := Continuous(sp, coordinates, n); err != nil {
			return nil, err
		}
	}
	r, err := p.release(sp, coordinates, Segment, law, d)
	return &Result{Release: r}, err
}

// pieces is the space of polynomials on the given pieces.
func (p *Privatizer) pieces(list []piece, m int) (space.Space, error) {
	w := p.config.Window
	breaks := make([]float64, 0, len(list)+1)
	for _, q := range list {
		breaks = append(breaks, w.A+w.Length()*(float64(q.index)/float64(int(1)<<q.level)))
	}
	base, err := space.Legendre(space.Interval{A: 0, B: 1}, m)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	sp, err := space.Piecewise(base, append(breaks, w.B))
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	return sp, nil
}

func (s *segmentation) find(policy Reduce) error {
	given, err := s.spend("number of pieces (sparse vector)", s.base/4)
	if err != nil {
		return err
	}
	_, pure := given.(privacy.Geo)
	s.concentric = !pure
	level, err := s.first(given, 0, s.pyramid.Levels()+1, func(j int) float64 {
		return noiseNorm(given, int(s.dim)<<j) - s.pyramid.Residual(j)
	})
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	s.depth = min(level-2, 4)
	if s.depth < 1 || policy == ReduceNever || policy == ReduceUseful && !s.canPass(level) {
		s.keep(piece{0, 0}, level)
		return nil
	}
	for quarter := range 4 {
		if err := s.reduce(piece{2, quarter}, level, 1, s.base/16); err != nil {
			return err
		}
	}
	return nil
}

// keep takes the part's pieces on the grid of the given level.
func (s *segmentation) keep(part piece, level int) {
	shift := level - part.level
	for i := part.index << shift; i < (part.index+1)<<shift; i++ {
		s.pieces = append(s.pieces, piece{level, i})
	}
}

// reduce checks whether the part of the window, now cut at the grid's level, does
// as well with half the pieces ([GEO] Algorithms 5 and 9). The budget of the
// checks below a part is at most the given share.
func (s *segmentation) reduce(part piece, grid, l int, share mechanism.Share) error {
	if l > s.depth || grid == part.level {
		s.keep(part, grid)
		return nil
	}
	given, err := s.spend("check of fewer pieces", share>>l)
	if err != nil {
		return err
	}
	shift := grid - 1 - part.level
	first := part.index << shift
	exactErr := math.Sqrt(s.pyramid.PieceResidual(grid-1, first, first+1<<shift))
	noisy, err := s.scalar(given, exactErr)
	if err != nil {
		return fmt.Errorf("curve: %w", err)
	}
	lhs, rhs := noisy+s.margin(value(given)), s.allowance(grid-part.level, s.leftValue())
	accepted := lhs <= rhs
	s.checks = append(s.checks, check{part, grid, exactErr, lhs, rhs, accepted})
	if !accepted {
		s.keep(part, grid)
		return nil
	}
	left, right := piece{part.level + 1, 2 * part.index}, piece{part.level + 1, 2*part.index + 1}
	if grid-1 == part.level { // one piece is left: no halves
		s.keep(part, grid-1)
		return nil
	}
	if err := s.reduce(left, grid-1, l+1, share/2); err != nil {
		return err
	}
	return s.reduce(right, grid-1, l+1, share/2)
}

// margin is what is added to a noisy residual so that, but for probability β, it
// is not below the true one in any check; given is the ε or ρ of the check.
func (s *segmentation) margin(given float64) float64 {
	logs := float64(s.depth)*math.Ln2 + math.Log(1/s.beta)
	if s.concentric {
		return math.Sqrt(2*logs) / math.Sqrt(2*given)
	}
	return logs / given
}

// allowance is the noise that halving 2^k pieces saves, less what Lemma 4.2 and
// Lemma C.2 need; left is the ε or ρ that is left.
func (s *segmentation) allowance(k int, left float64) float64 {
	saved := math.Ldexp(s.dim, k-1)
	if s.concentric {
		return (math.Sqrt2 - 1) / math.Sqrt2 * math.Sqrt(saved) / math.Sqrt(2*left)
	}
	return saved * math.E / (2 * (math.E - 1) * left)
}

// canPass reports whether a first check could pass on a straight line without
// noise. It depends on k̄ and public numbers only. Deeper checks have less
// budget and fewer pieces to save, and need the first one to pass.
func (s *segmentation) canPass(level int) bool {
	total := value(s.config.perRMS(s.config.Guarantee)) * float64(s.base) / float64(mechanism.Whole)
	// The last of the four first checks leaves the least, and so may save most.
	return s.margin(total/32) <= s.allowance(level-2, total*(3./4-4./32))
}
