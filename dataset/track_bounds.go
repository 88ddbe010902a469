package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/fit"
)

// Public bounds on a track: a box on the ground and a speed.
//
// The points that may follow each other at a speed v are ordered: if p reaches
// q and q reaches r, then p reaches r, for a chord is no longer than the way
// round. So the fewest points to drop are those outside a longest chain of that
// order, and one jump, at the beginning too, costs no more than the points that
// jumped.

// Box is a range of latitude and longitude in degrees. West above East
// crosses the antimeridian.
type Box struct{ South, West, North, East float64 }

func (b *Box) validate() error {
	switch {
	case !(b.South >= -90 && b.South < b.North && b.North <= 90):
		return fmt.Errorf("dataset: box from latitude %g to %g: must increase within [-90, 90]", b.South, b.North)
	case !(b.West >= -180 && b.West <= 180 && b.East >= -180 && b.East <= 180) || b.West == b.East:
		return fmt.Errorf("dataset: box from longitude %g to %g: must be two of [-180, 180] (the western above the eastern crosses the antimeridian)", b.West, b.East)
	}
	return nil
}

func (b *Box) holds(lat, lon float64) bool {
	if lat < b.South || lat > b.North {
		return false
	}
	if b.West <= b.East {
		return lon >= b.West && lon <= b.East
	}
	return lon >= b.West || lon <= b.East
}

// clip returns the place of the box nearest in degrees.
func (b *Box) clip(lat, lon float64) (float64, float64) {
	if !b.holds(min(max(lat, b.South), b.North), lon) {
		if west, east := turn(lon, b.West), turn(b.East, lon); math.Abs(west) < math.Abs(east) {
			lon = b.West
		} else {
			lon = b.East
		}
	}
	return min(max(lat, b.South), b.North), lon
}

func (b *Box) String() string {
	return fmt.Sprintf("latitude %g to %g, longitude %g to %g", b.South, b.North, b.West, b.East)
}

// bound applies box and speed to a track on the ground.
func (o *TrackOptions) bound(t *Track) error {
	if o.Box != nil {
		if err := o.boundBox(t); err != nil {
			return err
		}
	}
	if o.MaxSpeed > 0 {
		return o.boundSpeed(t)
	}
	return nil
}

const boundFix = "set the outside option to drop (takes them away) or clip (moves them to the bound); the noise stays the same"

func (o *TrackOptions) boundBox(t *Track) error {
	lat, lon := t.Curve[0].X, t.Curve[1].X
	outside, first := 0, -1
	for i := range lat {
		if !o.Box.holds(lat[i], lon[i]) {
			outside++
			if first < 0 {
				first = i
			}
		}
	}
	if outside == 0 {
		return nil
	}
	t.Changes.Box = outside
	switch o.Outside {
	case Drop:
		t.keep(func(i int) bool { return o.Box.holds(lat[i], lon[i]) })
	case Clip:
		for i := range lat {
			if !o.Box.holds(lat[i], lon[i]) {
				lat[i], lon[i] = o.Box.clip(lat[i], lon[i])
			}
		}
	default:
		return t.fault(0, first, "", fmt.Sprintf("%d of %s are outside the box of %v, the first is %s",
			outside, count(len(lat), "point"), o.Box, t.where(0, first)), boundFix)
	}
	return nil
}

// keep drops the points for which the test fails.
func (t *Track) keep(stays func(i int) bool) {
	s := t.Curve[0]
	at, lat, lon := make([]float64, 0, len(s.T)), make([]float64, 0, len(s.T)), make([]float64, 0, len(s.T))
	var places []place
	for i := range s.T {
		if stays(i) {
			at, lat, lon = append(at, s.T[i]), append(lat, s.X[i]), append(lon, t.Curve[1].X[i])
			if t.places != nil {
				places = append(places, t.places[0][i])
			}
		}
	}
	t.Curve = fit.Curve{{T: at, X: lat}, {T: at, X: lon}}
	if t.places != nil {
		t.places = [][]place{places, places}
	}
}

// run is a track as points in space, for distances.
type run struct {
	t     []float64
	p     [][3]float64
	speed float64
}

// slack admits what rounding makes of a point exactly at the speed.
const slack = 1 + 1e-9

// reaches reports whether the speed allows to get from i to a later j.
func (r *run) reaches(i, j int) bool {
	d, far := minus(r.p[j], r.p[i]), r.speed*(r.t[j]-r.t[i])*slack
	return dot(d, d) <= far*far
}

func (o *TrackOptions) boundSpeed(t *Track) error {
	s := t.Curve[0]
	r := &run{t: s.T, p: make([][3]float64, len(s.T)), speed: o.MaxSpeed}
	for i := range s.T {
		r.p[i] = geocentric(s.X[i], t.Curve[1].X[i])
	}
	tooFast, first := 0, -1
	for i := 1; i < len(s.T); i++ {
		if !r.reaches(i-1, i) {
			tooFast++
			if first < 0 {
				first = i
			}
		}
	}
	if tooFast == 0 {
		return nil
	}
	switch o.Outside {
	case Drop:
		chain, ok := r.longestChain()
		if !ok {
			return t.fault(0, first, "", fmt.Sprintf("%d of %s are faster than %.4g m/s, so many that no course is left to keep", tooFast, count(len(s.T)-1, "step"), o.MaxSpeed),
				"raise the max speed, or set the outside option to clip")
		}
		t.Changes.Speed = len(s.T) - len(chain)
		next := 0
		t.keep(func(i int) bool {
			if next < len(chain) && chain[next] == i {
				next++
				return true
			}
			return false
		})
	case Clip:
		t.clipSpeed(o.MaxSpeed)
	default:
		d := minus(r.p[first], r.p[first-1])
		return t.fault(0, first, "", fmt.Sprintf("%d of %s are faster than %.4g m/s, the first from %s to %s (%.0f m/s)",
			tooFast, count(len(s.T)-1, "step"), o.MaxSpeed, t.where(0, first-1), t.where(0, first), math.Sqrt(dot(d, d))/(s.T[first]-s.T[first-1])), boundFix)
	}
	return nil
}

// mostAlternatives bounds the points that may stand at one place of the chain,
// and with it the work, n·log(n) of it where jumps are few.
const mostAlternatives = 1000

// longestChain returns a longest sequence of points each of which reaches the
// next. Level l holds the points that end chains of l+1; a point with one of
// them before it has one of each lower level before it too, so the highest is
// found by bisection.
func (r *run) longestChain() ([]int, bool) {
	var levels [][]int
	before := make([]int, len(r.t))
	for j := range r.t {
		// below is the number of levels with a point that reaches j.
		reacher := func(l int) int {
			for k := len(levels[l]) - 1; k >= 0; k-- {
				if r.reaches(levels[l][k], j) {
					return levels[l][k]
				}
			}
			return -1
		}
		below, high := 0, len(levels)
		before[j] = -1
		// Nearly always the last level will do.
		for probe := high - 1; below < high; probe = (below + high) / 2 {
			if i := reacher(probe); i >= 0 {
				before[j], below = i, probe+1
			} else {
				high = probe
			}
		}
		if below == len(levels) {
			levels = append(levels, nil)
		}
		if len(levels[below]) == mostAlternatives {
			return nil, false
		}
		levels[below] = append(levels[below], j)
	}
	var chain []int
	for j := levels[len(levels)-1][0]; j >= 0; j = before[j] {
		chain = append(chain, j)
	}
	slices.Reverse(chain)
	return chain, true
}

// clipSpeed moves each point that cannot be reached from the (moved) one
// before it back along the straight way to there.
func (t *Track) clipSpeed(speed float64) {
	at, lat, lon := t.Curve[0].T, t.Curve[0].X, t.Curve[1].X
	for i := 1; i < len(at); i++ {
		far := speed * (at[i] - at[i-1])
		if chord(lat[i-1], lon[i-1], lat[i], lon[i]) <= far*slack {
			continue
		}
		t.Changes.Speed++
		low, high := 0.0, 1.0
		for range 60 {
			f := (low + high) / 2
			x, y := along(lat[i-1], lon[i-1], lat[i], lon[i], f)
			if chord(lat[i-1], lon[i-1], x, y) <= far {
				low = f
			} else {
				high = f
			}
		}
		lat[i], lon[i] = along(lat[i-1], lon[i-1], lat[i], lon[i], low)
	}
}
