package density

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// Density accumulates points of people and releases their private density once. It is not safe for
// concurrent use; it uses all cores by itself.
type Density struct {
	cfg     Config
	account *account
	members []*account // of a family: one for each rank
	code    *coder
	rows    int
	pending []float64   // people with one point each
	several [][]float64 // people with several
	held    int         // points in several
	free    chan *work
	workers int
	tally   *lattice.Tally // what was merged in and what workers gave up
	done    bool

	mu     sync.Mutex
	err    error
	failed atomic.Bool // err is set
}

// New returns an empty accumulator. Everything in the configuration is checked here, before any data is
// read.
func New(c Config) (*Density, error) {
	c, a, err := c.resolve()
	if err != nil {
		return nil, err
	}
	d := &Density{cfg: c, account: a, code: newCoder(a.space), workers: runtime.GOMAXPROCS(0)}
	if c.Method == Family {
		if d.members, err = newFamily(c, a); err != nil {
			return nil, err
		}
	}
	for _, m := range append([]*account{a}, d.members...) {
		if _, err := m.mechanism(d.code.unit); err != nil { // refuses noise beyond the sampler
			return nil, err
		}
	}
	d.rows = 16 * block
	d.free = make(chan *work, d.workers)
	for range d.workers {
		d.free <- newWork(d.code)
	}
	d.tally = lattice.NewTally(d.code.dim, d.code.limit)
	return d, nil
}

// Config returns the configuration with defaults and the rank filled in.
func (d *Density) Config() Config { return d.cfg }

// Space is the space of the largest rank.
func (d *Density) Space() *space.Tensor { return d.account.space }

var errReleased = errors.New("density: already released: a second release is a second expense; make a new accumulator")

// Add adds one person with one or several points, each of one coordinate per variable. Several are averaged
// into one vector, so that the person stays the unit of privacy. The slices are copied. A NaN is
// refused; an infinite coordinate lies outside the box. An error means that the person was not added.
func (d *Density) Add(points ...[]float64) error {
	if len(points) == 1 {
		return d.AddPoints(points[0])
	}
	if err := d.ready(); err != nil {
		return err
	}
	if err := checkCount(len(points)); err != nil {
		return err
	}
	own := make([]float64, 0, len(points)*len(d.cfg.Box))
	for _, x := range points {
		if err := d.check(x); err != nil {
			return err
		}
		own = append(own, x...)
	}
	if len(own) != len(points)*len(d.cfg.Box) {
		return fmt.Errorf("density: a point of other than %d coordinates", len(d.cfg.Box))
	}
	d.several = append(d.several, own)
	if d.held += len(points); d.held >= d.rows {
		d.send()
	}
	return nil
}

// maxPoints of one person keep the integers that are averaged, below 2³⁴ each, within 62 bits.
const maxPoints = 1 << 28

func checkCount(points int) error {
	if points == 0 {
		return errors.New("density: a person without points: leave the person out, which changes n")
	}
	if points > maxPoints {
		return fmt.Errorf("density: a person with %d points: at most %d can be averaged; take a part of them", points, maxPoints)
	}
	return nil
}

// AddPoints adds people with one point each, the coordinates of one after the other in x. The slice is
// copied. An error means that none of them was added.
func (d *Density) AddPoints(x []float64) error {
	if err := d.ready(); err != nil {
		return err
	}
	if err := d.check(x); err != nil {
		return err
	}
	full := d.rows * len(d.cfg.Box)
	for len(x) > 0 {
		n := min(len(x), full-len(d.pending))
		d.pending = append(d.pending, x[:n]...)
		x = x[n:]
		if len(d.pending) == full {
			d.send()
		}
	}
	return nil
}

func (d *Density) ready() error {
	if d.done {
		return errReleased
	}
	return d.failure()
}

func (d *Density) check(x []float64) error {
	if len(x) == 0 || len(x)%len(d.cfg.Box) != 0 {
		return fmt.Errorf("density: %d coordinates are no points of %d variables", len(x), len(d.cfg.Box))
	}
	for i, v := range x {
		if math.IsNaN(v) {
			return fmt.Errorf("density: coordinate %d of a point is NaN: a missing value has no place in the box; leave the person out, which changes n", i%len(d.cfg.Box)+1)
		}
	}
	return nil
}

// keep reports whether a point counts for more than n.
func (d *Density) keep(x []float64) bool {
	if d.cfg.Outside == Clamp {
		return true // the basis takes a coordinate to the nearest end
	}
	for i, b := range d.cfg.Box {
		if !b.Contains(x[i]) {
			return false
		}
	}
	return true
}

// send gives everything that waits to an idle worker.
func (d *Density) send() {
	points, several := d.pending, d.several
	d.pending, d.several, d.held = nil, nil, 0
	if len(points) == d.rows*len(d.cfg.Box) {
		d.pending = make([]float64, 0, len(points)) // more are to be expected
	}
	w := <-d.free
	go func() {
		w.points(points, d.keep)
		for _, own := range several {
			w.person(own, d.keep)
		}
		if w.people > 1<<26 {
			d.collect(w)
		}
		d.free <- w
	}()
}

// collect moves a worker's sum into the tally.
func (d *Density) collect(w *work) {
	w.flush()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.tally.Add(w.total, w.people); err != nil && d.err == nil {
		d.err = fmt.Errorf("density: %w", err)
		d.failed.Store(true)
	}
	clear(w.total)
	w.people = 0
}

func (d *Density) failure() error {
	if !d.failed.Load() {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// total finishes all pending work.
func (d *Density) total() (*lattice.Tally, error) {
	if len(d.pending) > 0 || len(d.several) > 0 {
		d.send()
	}
	all := make([]*work, d.workers)
	for i := range all {
		all[i] = <-d.free
	}
	for _, w := range all {
		d.collect(w)
		d.free <- w
	}
	return d.tally, d.failure()
}

// N is the number of people added so far.
func (d *Density) N() (int64, error) {
	t, err := d.total()
	if err != nil {
		return 0, err
	}
	return t.N(), nil
}

// newFamily gives each rank of the family an equal part of the budget, added up as in the paper: 1/|family| of
// ρ, so 1/√|family| of μ.
func newFamily(c Config, top *account) ([]*account, error) {
	ranks := ranksUpTo(top.space.Rank())
	mu := privacy.DivDown(float64(top.mu), privacy.SqrtUp(float64(len(ranks))))
	var members []*account
	for _, m := range ranks {
		a := newShells(top.space, []float64{m})
		a.mu = privacy.GDP(mu)
		a.calibrate()
		members = append(members, a)
	}
	return slices.Clip(members), nil
}
