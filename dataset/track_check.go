package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/curveil/curveil/fit"
)

// What a track must be before anything is made of it: finite values, times
// that increase, no long gap, the whole window. Only the samples that the
// window needs are judged; what a person did on another day is no fault.

// prepare checks a track and cuts it to the window.
func (o *TrackOptions) prepare(t *Track) error {
	if !t.Geographic && (o.Box != nil || o.MaxSpeed > 0) {
		return t.whole("box and max speed are bounds for latitude and longitude, and this is a signal", "leave the options out, or name the two columns in the values option")
	}
	for k := range t.Curve {
		if err := o.order(t, k); err != nil {
			return err
		}
	}
	if err := o.selectWindow(t); err != nil {
		return err
	}
	if err := o.bound(t); err != nil {
		return err
	}
	for k := range t.Curve {
		if err := o.cut(t, k); err != nil {
			return err
		}
	}
	if t.Geographic {
		// lat and lon are cut alike, and share their times again.
		t.Curve[1].T = t.Curve[0].T
	}
	return nil
}

// of names the component in a message, where there is more than one apart.
func (t *Track) of(component int) string {
	if t.Geographic || len(t.Components) == 1 {
		return ""
	}
	return " of " + quote(t.Components[component].Name)
}

func (t *Track) points(n int) string {
	if t.Geographic {
		return count(n, "point")
	}
	return count(n, "sample")
}

const (
	tooShort    = "a track needs two points at least; take it out of the file"
	notSwapped  = "if latitude and longitude are exchanged, exchange them; a longitude beyond ±180 differs by 360"
	orderedOnly = "put the points in the order of time; were recordings joined in the wrong order, or was the clock set back?"
)

func (o *TrackOptions) order(t *Track, k int) error {
	s := t.Curve[k]
	if len(s.T) < 2 {
		return t.whole(fmt.Sprintf("it has %s only%s", t.points(len(s.T)), t.of(k)), tooShort)
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	if t.Geographic {
		lo, hi = -90-90*float64(k), 90+90*float64(k)
	}
	name := t.Components[k].Name
	for i, x := range s.X {
		if x != x || math.IsInf(x, 0) || math.IsNaN(s.T[i]) || math.IsInf(s.T[i], 0) {
			return t.fault(k, i, name, fmt.Sprintf("%s is not finite", t.where(k, i)), "correct it, or take it out")
		}
		if x < lo || x > hi {
			return t.fault(k, i, name, fmt.Sprintf("%s: %s", t.where(k, i), outsideMsg(x, lo, hi)), notSwapped)
		}
		switch {
		case i == 0 || s.T[i] > s.T[i-1]:
		case s.T[i] == s.T[i-1]:
			return t.fault(k, i, t.Time, fmt.Sprintf("%s has the time of the one before", t.where(k, i)), "keep one point per time, or average them first")
		default:
			return t.fault(k, i, t.Time, fmt.Sprintf("%s comes before %s, which stands before it", t.where(k, i), t.where(k, i-1)), orderedOnly)
		}
	}
	return nil
}

// selectWindow keeps the samples in the window and one on either side.
func (o *TrackOptions) selectWindow(t *Track) error {
	w := o.Window
	if w == nil {
		return nil
	}
	outside := 0
	for k, s := range t.Curve {
		n := len(s.T)
		if s.T[0] > w.B || s.T[n-1] < w.A {
			return t.whole(fmt.Sprintf("it lasts%s from %s to %s and has nothing in the window from %s to %s",
				t.of(k), showTime(s.T[0]), showTime(s.T[n-1]), showTime(w.A), showTime(w.B)),
				"give another window, or take the track out")
		}
		from, exact := slices.BinarySearch(s.T, w.A)
		if !exact && from > 0 {
			from--
		}
		to, exact := slices.BinarySearch(s.T, w.B)
		if exact || to < n {
			to++
		}
		t.Curve[k] = fit.Series{T: s.T[from:to], X: s.X[from:to]}
		if t.places != nil {
			t.places[k] = t.places[k][from:to]
		}
		if k == 0 || !t.Geographic {
			outside += n
			for _, at := range s.T[from:to] {
				if at >= w.A && at <= w.B {
					outside--
				}
			}
		}
	}
	t.Changes.Outside = outside
	return nil
}

// cut checks the gaps of a component and gives it the ends of the window.
func (o *TrackOptions) cut(t *Track, k int) error {
	s := t.Curve[k]
	if o.MaxGap > 0 {
		for i := 1; i < len(s.T); i++ {
			if gap := s.T[i] - s.T[i-1]; gap > o.MaxGap {
				return t.fault(k, i, t.Time, fmt.Sprintf("no sample%s for %s s, between %s and %s; the max gap is %g s",
					t.of(k), seconds(gap), t.where(k, i-1), t.where(k, i), o.MaxGap), gapFix)
			}
		}
	}
	if o.Window == nil {
		if len(s.T) < 2 {
			return t.whole(fmt.Sprintf("%s left%s within the bounds", t.points(len(s.T)), t.of(k)), tooShort)
		}
		return nil
	}
	if len(s.T) == 0 {
		return t.whole(fmt.Sprintf("nothing%s is left within the bounds in the window", t.of(k)), "widen the box, raise the max speed, or take the track out")
	}
	a, b := o.Window.A, o.Window.B
	first, last := s.T[0], s.T[len(s.T)-1]
	if late := first - a; late > o.MaxGap {
		return t.fault(k, 0, t.Time, fmt.Sprintf("it begins%s with %s, %s s after the window does (%s); the max gap is %g s",
			t.of(k), t.where(k, 0), seconds(late), showTime(a), o.MaxGap), windowFix)
	}
	if early := b - last; early > o.MaxGap {
		return t.fault(k, len(s.T)-1, t.Time, fmt.Sprintf("it ends%s with %s, %s s before the window does (%s); the max gap is %g s",
			t.of(k), t.where(k, len(s.T)-1), seconds(early), showTime(b), o.MaxGap), windowFix)
	}
	t.Changes.Extended[0] = max(t.Changes.Extended[0], first-a)
	t.Changes.Extended[1] = max(t.Changes.Extended[1], b-last)
	atA, atB := t.at(k, a), t.at(k, b)
	inside := fit.Series{T: make([]float64, 0, len(s.T)+2), X: make([]float64, 0, len(s.T)+2)}
	var places []place
	add := func(at, x float64, i int) {
		inside.T, inside.X = append(inside.T, at), append(inside.X, x)
		if t.places != nil {
			places = append(places, t.places[k][i])
		}
	}
	if !slices.Contains(s.T, a) {
		add(a, atA, 0)
	}
	for i, at := range s.T {
		if at >= a && at <= b {
			add(at, s.X[i], i)
		}
	}
	if !slices.Contains(s.T, b) {
		add(b, atB, len(s.T)-1)
	}
	t.Curve[k] = inside
	if t.places != nil {
		t.places[k] = places
	}
	return nil
}

const (
	gapFix    = "raise the max gap if a straight line across it will do, or choose a window without it"
	windowFix = "choose a window that the track covers, or raise the max gap if the value may be held that long"
)

func seconds(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }

// at is the value of a component at a time: straight between samples, held
// beyond them, and a longitude by the nearer way round.
func (t *Track) at(k int, at float64) float64 {
	s := t.Curve[k]
	i, exact := slices.BinarySearch(s.T, at)
	switch {
	case exact || i == 0:
		return s.X[i]
	case i == len(s.T):
		return s.X[i-1]
	}
	f := (at - s.T[i-1]) / (s.T[i] - s.T[i-1])
	if t.Geographic && k == 1 {
		_, lon := along(0, s.X[i-1], 0, s.X[i], f)
		return lon
	}
	return s.X[i-1] + f*(s.X[i]-s.X[i-1])
}
