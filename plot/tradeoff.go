// The picture of an audit: what attackers achieved, over what theory allows.

package plot

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"

	"github.com/curveil/curveil/privacy"
)

// TradeoffPoint is one attack: its rates of type I and II errors, and a
// confidence interval [Lo, Hi] for the second.
type TradeoffPoint struct{ Alpha, Beta, Lo, Hi float64 }

// Tradeoff draws the errors of attacks against G_μ, the curve that no attack
// on a μ-GDP release gets below. Attacks whose whole interval lies below are
// drawn in another colour: they refute the guarantee. Options may set Title,
// XLabel, YLabel and Size; Level is that of the intervals, for the legend.
func Tradeoff(points []TradeoffPoint, mu privacy.GDP, o Options) (*Picture, error) {
	if err := mu.Validate(); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	if len(points) == 0 {
		return nil, errors.New("plot: no attacks to draw")
	}
	size := o.Size
	if size == (Size{}) {
		size = Size{10 * vg.Centimeter, 10 * vg.Centimeter, 9}
	}
	size, err := size.orPaper()
	if err != nil {
		return nil, err
	}
	q := &panel{square: true,
		x: axis{label: pick(o.XLabel, "type I error α: alarm without cause"), lo: 0, hi: 1},
		y: axis{label: pick(o.YLabel, "type II error β: missed"), lo: 0, hi: 1}}
	p := &Picture{title: o.Title, look: size, columns: 1, panels: []*panel{q}}
	bound := stroke{palette[0], 1.6, nil}
	blind := stroke{soft, 0.8, dashed}
	var x, y []float64
	for i := range samples + 1 {
		// Points crowd at the ends, where the curve is steep.
		a := float64(i) / samples
		a = a * a * (3 - 2*a)
		x, y = append(x, a), append(y, mu.Tradeoff(a))
	}
	q.lines = []line{{[]float64{0, 1}, []float64{1, 0}, blind}, {x, y, bound}}
	good := marks{look: stroke{ink, 1.1, nil}}
	bad := marks{look: stroke{palette[1], 1.4, nil}, shape: 1}
	for i, t := range points {
		if !(0 <= t.Alpha && t.Alpha <= 1 && 0 <= t.Lo && t.Lo <= t.Beta && t.Beta <= t.Hi && t.Hi <= 1) {
			return nil, fmt.Errorf("plot: attack %d: α=%v, β=%v in [%v, %v] are not rates with 0 ≤ Lo ≤ β ≤ Hi ≤ 1", i, t.Alpha, t.Beta, t.Lo, t.Hi)
		}
		m := &good
		if t.Hi < mu.Tradeoff(t.Alpha) {
			m = &bad
		}
		m.x, m.y, m.lo, m.hi = append(m.x, t.Alpha), append(m.y, t.Beta), append(m.lo, t.Lo), append(m.hi, t.Hi)
	}
	p.keys = []key{{label: fmt.Sprintf("least possible at %v", mu), line: &bound}, {label: "guessing", line: &blind}}
	interval := ""
	if o.Level != 0 {
		interval = ", " + percent(o.Level) + " interval"
	}
	for _, s := range []struct {
		m    *marks
		name string
	}{{&good, "attack" + interval}, {&bad, "attack below the curve"}} {
		if len(s.m.x) > 0 {
			q.marks = append(q.marks, *s.m)
			p.addKey(key{label: s.name, mark: s.m})
		}
	}
	return p, q.fit()
}
