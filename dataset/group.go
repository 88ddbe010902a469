package dataset

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/curveil/curveil/space"
)

// People of a long file: rows are gathered by person. Three ways, by need:
//
//   - the file's rows fit into the buffer: any order of rows will do;
//   - they do not: what filled the buffer is handed out, but for the person of
//     the last row, and from there on a person ends where the next one begins.
//     Every person handed out is remembered, so that one who comes back is an
//     error and not a second person;
//   - option Unsorted: pass after pass over the file, each for the people whose
//     hash is above that of all before, and not above a bound that comes down
//     as often as the buffer overflows.

// longRun is rows of one curve that stand together. All slices are valid until the
// next run.
type longRun struct {
	unit, id []byte // nil where the file has no such column
	t        []float64
	v        [][]float64 // of each component, NaN where missing
	line     []int
}

func (r *longRun) drop(rows int) {
	r.t, r.line = r.t[rows:], r.line[rows:]
	for k := range r.v {
		r.v[k] = r.v[k][rows:]
	}
}

type runSource interface {
	next(*longRun) (bool, error)
	rewind() error
}

type groups struct {
	origin
	src        runSource
	components []string
	timeName   string
	timeColumn int // from 1
	domain     *space.Interval
	dated      bool
	zone       *time.Location // of the domain's and the file's dates, for errors
	hasUnit    bool
	hasID      bool
	constant   bool
	budget     int64
	unsorted   bool

	block  block
	run    longRun // what is left of it waits for its turn
	stream bool
	done   bool
	emit   int // next person of the block to hand out
	ready  int // people of the block that may be handed out are emit..ready-1 …
	open   int // … without this one, whose rows go on (-1 none)
	seen   *idSet
	lo, hi uint64 // Unsorted: this pass is for parts lo..hi

	assembly
}

func newGroups(src runSource, org origin, s Schema, c *columns, o Options) *groups {
	return &groups{
		origin: org, src: src, components: s.Components, timeName: s.Time, timeColumn: c.time + 1, domain: o.Domain, dated: s.Dated, zone: o.Zone,
		hasUnit: c.unit >= 0, hasID: c.id >= 0, constant: o.Constant, budget: o.buffer(), unsorted: o.Unsorted,
		block: newBlock(len(s.Components), c.unit >= 0), seen: newIDSet(), open: -1, hi: math.MaxUint64,
	}
}

func (g *groups) next(p *Person) (bool, error) {
	for {
		if g.emit < g.ready {
			g.emit++
			if g.emit-1 == g.open {
				continue
			}
			if err := g.person(p, g.emit-1); err != nil {
				return false, err
			}
			return true, nil
		}
		if g.done {
			return false, nil
		}
		if err := g.fill(); err != nil {
			return false, err
		}
	}
}

// read makes sure of rows at hand, whose times must lie in the domain.
func (g *groups) read() (bool, error) {
	if len(g.run.line) > 0 {
		return true, nil
	}
	ok, err := g.src.next(&g.run)
	if !ok || err != nil || g.domain == nil {
		return ok, err
	}
	for i, t := range g.run.t {
		if !g.domain.Contains(t) {
			msg, fix := outsideDomain(t, *g.domain, g.dated, g.zone)
			return false, g.at(g.run.line[i], g.timeColumn, g.timeName, msg, fix)
		}
	}
	return true, nil
}

// whose is the person of the rows at hand.
func (g *groups) whose() []byte {
	if g.hasUnit {
		return g.run.unit
	}
	return g.run.id
}

// fill reads rows until some people are complete.
func (g *groups) fill() error {
	switch {
	case g.stream:
		return g.fillOne()
	case g.unsorted:
		return g.fillPart()
	}
	b := &g.block
	for {
		ok, err := g.read()
		if err != nil {
			return err
		}
		if !ok {
			g.release()
			g.done = true
			return nil
		}
		b.add(&g.run, g.budget)
		if b.size > g.budget {
			g.stream = true
			g.release()
			g.open = b.curves[b.last].person
			return nil
		}
	}
}

// release makes everybody in the block ready.
func (g *groups) release() {
	g.block.sortRows()
	g.emit, g.ready, g.open = 0, len(g.block.people), -1
}

// fillOne reads the rows of one person who stands together in the file.
func (g *groups) fillOne() error {
	b := &g.block
	for i, p := range b.people {
		if i != g.open {
			g.seen.addHash(p.hash, p.line)
		}
	}
	if g.open >= 0 {
		open := g.open
		b.keep(func(i int, _ personRun) bool { return i == open })
		b.shrink()
		g.open = -1
	} else {
		b.reset()
	}
	for {
		ok, err := g.read()
		if err != nil {
			return err
		}
		if !ok {
			g.release()
			g.done = true
			return nil
		}
		if len(b.people) == 0 {
			if e := g.seen.find(b.ids.hash(g.whose())); e.line != 0 {
				return &UngroupedError{File: g.file, Line: g.run.line[0], First: e.line, ID: string(g.whose())}
			}
		} else if !b.samePerson(&g.run) {
			g.release()
			return nil
		}
		b.add(&g.run, math.MaxInt64)
	}
}

// fillPart makes one pass over the file for the people of parts lo..hi.
func (g *groups) fillPart() error {
	b := &g.block
	g.run = longRun{}
	if g.lo > 0 {
		if err := g.src.rewind(); err != nil {
			return err
		}
	}
	b.reset()
	for {
		ok, err := g.read()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if p := part(g.whose()); p < g.lo || p > g.hi {
			g.run.drop(len(g.run.line))
			continue
		}
		b.add(&g.run, g.budget)
		for b.size > g.budget && g.narrow() {
		}
	}
	g.release()
	g.done = g.hi == math.MaxUint64
	g.lo, g.hi = g.hi+1, math.MaxUint64
	return nil
}

// narrow leaves the upper half of the people in the block to a later pass. It
// returns false if they cannot be told apart: one person at least is read.
func (g *groups) narrow() bool {
	parts := make([]uint64, len(g.block.people))
	for i, p := range g.block.people {
		parts[i] = part([]byte(p.unit))
	}
	slices.Sort(parts)
	hi := parts[(len(parts)-1)/2]
	if hi == parts[len(parts)-1] {
		return false
	}
	g.hi = hi
	g.block.keep(func(_ int, p personRun) bool { return part([]byte(p.unit)) <= hi })
	return true
}

// part places a person on the line that passes divide. It is the same in every
// run, so that people come in the same order.
func part(id []byte) uint64 {
	h := fnv.New64a()
	h.Write(id)
	x := h.Sum64()
	// FNV's high bits hardly depend on the last bytes: mix (MurmurHash3).
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
