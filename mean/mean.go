package mean

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/mechanism"
)

// blockFloats is the size of a block of curves that travel to a worker together
// (256 KB; a curve larger than that travels alone): enough to make the hand-over
// cheap, few enough to stay in the cache.
const blockFloats = 1 << 15

// openBlocks is how many different grids may be collecting curves at once.
const openBlocks = 8

// Mean accumulates the curves of a cohort and releases their private mean
// once. It is not safe for concurrent use; it uses all cores by itself.
type Mean struct {
	cfg     Config
	mech    mechanism.Mechanism
	print   [sha256.Size]byte // fingerprint of the configuration
	encode  encoder
	after   *fit.Design // protect-then-fit: the fit to the noisy mean
	n       int64       // people added
	open    []*block    // most recent first
	once    [][]float64 // times that one curve was sampled at; the second opens a block
	spare   [][]float64 // memory for blocks
	batch   *batch
	batches []*batch     // memory for more
	free    chan *worker // idle workers
	workers int
	done    bool

	failed atomic.Pointer[error] // first failure of a worker
}

// worker is one goroutine's memory and its share of the sum.
type worker struct {
	sum    *lattice.Sum
	solver fit.Solver
	spare  []float64 // memory of the block that was done last
	batch  *batch    // of the one
	coords []float64
	ints   []int64
	total  []int64
}

// block is curves waiting that were all sampled on one grid.
type block struct {
	grid *grid
	row  int       // components × len(grid.t)
	size int       // of x when the block is full
	x    []float64 // curves × row
}

// grid is what is computed once for each set of sample times.
type grid struct {
	t         []float64
	design    *fit.Design
	reference []float64 // components × len(t)
}

// encoder turns curves into integer vectors in the ball.
type encoder interface {
	// grid prepares for curves at the times.
	grid(t []float64) (*grid, error)
	// block adds complete curves on one grid, one curve per person.
	block(w *worker, b *block) error
	// person adds one person with any curves.
	person(w *worker, curves []fit.Curve) error
}

// New returns an empty accumulator. Everything in the configuration is checked
// here, before any data is read.
func New(c Config) (*Mean, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Components, c.Reference, c.Grid = slices.Clone(c.Components), slices.Clone(c.Reference), slices.Clone(c.Grid)
	if c.Method == Auto {
		plan, err := NewPlan(PlanConfig{Config: c})
		if err != nil {
			return nil, err
		}
		c.Method = plan.Recommended
	}
	mech, err := c.mechanism()
	if err != nil {
		return nil, err
	}
	ball, err := c.ball()
	if err != nil {
		return nil, err
	}
	print, err := c.fingerprint()
	if err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	m := &Mean{cfg: c, mech: mech, print: print, workers: runtime.GOMAXPROCS(0)}
	if c.Method == ProtectThenFit {
		if m.after, err = c.noisyDesign(); err != nil {
			return nil, fmt.Errorf("mean: %w", err)
		}
		m.encode = newClipper(c, ball)
	} else {
		m.encode = newFitter(c, ball)
	}
	m.free = make(chan *worker, m.workers)
	for range m.workers {
		m.free <- &worker{sum: lattice.NewSum(ball), ints: make([]int64, ball.Dim()), total: make([]int64, ball.Dim())}
	}
	return m, nil
}

// Config returns the configuration, with defaults filled in and Auto resolved.
func (m *Mean) Config() Config { return m.cfg }

var errReleased = errors.New("mean: already released: a second release is a second expense; make a new accumulator")

// Add adds one person with one or several curves; several are averaged into one
// vector, so that the person stays the unit of privacy. The slices are copied.
// An error means that the person was not added.
func (m *Mean) Add(curves ...fit.Curve) error {
	if m.done {
		return errReleased
	}
	if len(curves) == 0 {
		return errors.New("mean: a person without curves: leave the person out, which changes n")
	}
	if err := m.failure(); err != nil {
		return err
	}
	if m.n >= lattice.MaxN {
		return fmt.Errorf("mean: more than %d people in one mean are not supported", int64(lattice.MaxN))
	}
	if err := m.add(curves); err != nil {
		return err
	}
	m.n++
	return nil
}

func (m *Mean) add(curves []fit.Curve) error {
	if len(curves) == 1 && m.addOnGrid(curves[0]) {
		return nil
	}
	for _, c := range curves {
		if err := c.Check(m.cfg.Space.Domain(), len(m.cfg.Components)); err != nil {
			return fmt.Errorf("mean: %w", err)
		}
		if err := m.requireGrid(c); err != nil {
			return err
		}
	}
	if len(curves) == 1 && shared(curves[0]) && m.again(curves[0][0].T) {
		return m.startBlock(curves[0])
	}
	if m.batch == nil {
		m.batch = m.newBatch()
	}
	if m.batch.add(curves); len(m.batch.people) == batchPeople {
		m.sendBatch()
	}
	return nil
}

// shared reports whether all components have the same times.
func shared(c fit.Curve) bool {
	for _, s := range c[1:] {
		if !sameTimes(s.T, c[0].T) {
			return false
		}
	}
	return true
}

func sameTimes(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// addOnGrid adds the curve if there is an open block on its times, which then
// need no second check, and if the curve is in order.
func (m *Mean) addOnGrid(c fit.Curve) bool {
	if len(c) != len(m.cfg.Components) {
		return false
	}
	for i, b := range m.open {
		if !sameTimes(b.grid.t, c[0].T) {
			continue
		}
		if !shared(c) {
			return false
		}
		for _, s := range c {
			if len(s.X) != len(s.T) || !fit.Finite(s.X) {
				return false
			}
		}
		for _, s := range c {
			b.x = append(b.x, s.X...)
		}
		copy(m.open[1:i+1], m.open[:i])
		m.open[0] = b
		if len(b.x)+b.row > b.size {
			m.send(b)
			m.open[0] = m.newBlock(b.grid)
		}
		return true
	}
	return false
}

// again reports whether a curve on the times is likely to be followed by others:
// protect-then-fit has one grid; else the times were seen before, not long ago.
func (m *Mean) again(t []float64) bool {
	if m.cfg.Method == ProtectThenFit {
		return true
	}
	for i, u := range m.once {
		if sameTimes(u, t) {
			m.once = slices.Delete(m.once, i, i+1)
			return true
		}
	}
	var oldest []float64
	if len(m.once) == openBlocks {
		oldest = m.once[0]
		m.once = m.once[:copy(m.once, m.once[1:])]
	}
	m.once = append(m.once, append(oldest[:0], t...))
	return false
}

func (m *Mean) newBlock(g *grid) *block {
	b := &block{grid: g, row: len(g.t) * len(m.cfg.Components)}
	b.size = max(blockFloats, b.row)
	if last := len(m.spare) - 1; last >= 0 {
		b.x, m.spare = m.spare[last], m.spare[:last]
	}
	return b
}

func (m *Mean) startBlock(c fit.Curve) error {
	g, err := m.encode.grid(c[0].T)
	if err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	if len(m.open) == openBlocks {
		m.send(m.open[openBlocks-1])
		m.open = m.open[:openBlocks-1]
	}
	m.open = slices.Insert(m.open, 0, m.newBlock(g))
	m.addOnGrid(c)
	return nil
}

// requireGrid refuses a curve off the common grid where the method has one.
func (m *Mean) requireGrid(c fit.Curve) error {
	if m.cfg.Method != ProtectThenFit {
		return nil
	}
	for _, s := range c {
		if !sameTimes(s.T, m.cfg.Grid) {
			return fmt.Errorf("mean: %s needs every curve complete on the common grid of %d times; this one has %d samples or other times: use %s, which takes irregular sampling and missing values",
				ProtectThenFit, len(m.cfg.Grid), len(s.T), FitThenProtect)
		}
	}
	return nil
}

func (m *Mean) send(b *block) {
	if len(b.x) == 0 {
		return
	}
	m.run(func(w *worker) error {
		err := m.encode.block(w, b)
		w.spare = b.x[:0]
		return err
	})
}

func (m *Mean) sendBatch() {
	b := m.batch
	m.batch = nil
	m.run(func(w *worker) error {
		w.batch = b
		for _, curves := range b.people {
			if err := m.encode.person(w, curves); err != nil {
				return err
			}
		}
		return nil
	})
}

// run waits for an idle worker and gives it the job.
func (m *Mean) run(job func(*worker) error) {
	w := <-m.free
	if w.spare != nil {
		m.spare, w.spare = append(m.spare, w.spare), nil
	}
	if w.batch != nil {
		m.batches, w.batch = append(m.batches, w.batch), nil
	}
	go func() {
		if err := job(w); err != nil {
			m.fail(err)
		}
		m.free <- w
	}()
}

func (m *Mean) fail(err error) {
	err = fmt.Errorf("mean: %w", err)
	m.failed.CompareAndSwap(nil, &err)
}

func (m *Mean) failure() error {
	if err := m.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// total finishes all pending work and returns the sum over all workers.
func (m *Mean) total() (*lattice.Sum, error) {
	for _, b := range m.open {
		m.send(b)
	}
	m.open = nil
	if m.batch != nil {
		m.sendBatch()
	}
	all := make([]*worker, m.workers)
	for i := range all {
		all[i] = <-m.free
	}
	defer func() {
		for _, w := range all {
			m.free <- w
		}
	}()
	for _, w := range all[1:] {
		if err := all[0].sum.Merge(w.sum); err != nil {
			return nil, err
		}
		w.sum = lattice.NewSum(w.sum.Ball())
	}
	return all[0].sum, m.failure()
}

// N is the number of people added so far.
func (m *Mean) N() (int64, error) { return m.n, m.failure() }
