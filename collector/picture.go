package collector

import (
	"math"

	"github.com/curveil/curveil/space"
)

// picture is what the live page draws: for each variable the estimate along it, the others at the middle of their domains.
type picture struct {
	At int64 `json:"at"`
	// Reach is how far from the center so many reports can have taken the curve.
	Reach  float64 `json:"reach"`
	Panels []panel `json:"panels"`
}

type panel struct {
	X     []float64 `json:"x"`
	Value []float64 `json:"value"`
	// Low and High are the 95% band of the privacy noise, for one variable and after the first report.
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
}

const (
	picturePoints = 161
	pictureDigits = 1e6 // of a value, relative to τ, that the page needs
	bandLevel     = 0.95
)

func (s *stream) picture() picture {
	v := s.server
	box := v.Stream().Domains()
	out := picture{At: v.At(), Reach: v.Stream().Reach(v.At())}
	point := make([]float64, len(box))
	middle := func(d space.Interval) float64 { return d.A/2 + d.B/2 }
	for i, d := range box {
		for j, o := range box {
			point[j] = middle(o)
		}
		p := panel{X: make([]float64, picturePoints), Value: make([]float64, picturePoints)}
		for k := range p.X {
			t := float64(k) / (picturePoints - 1)
			p.X[k] = d.A*(1-t) + d.B*t
			point[i] = p.X[k]
			p.Value[k] = s.round(v.Estimate(point))
		}
		if len(box) == 1 {
			s.band(&p)
		}
		out.Panels = append(out.Panels, p)
	}
	return out
}

func (s *stream) band(p *panel) {
	r, err := s.server.Release()
	if err != nil {
		return // no report yet
	}
	lo, hi, err := r.Bands(p.X, bandLevel, false)
	if err != nil {
		return
	}
	for k := range p.X {
		lo[0][k], hi[0][k] = s.round(lo[0][k]), s.round(hi[0][k])
	}
	p.Low, p.High = lo[0], hi[0]
}

// round keeps the events short.
func (s *stream) round(v float64) float64 {
	unit := s.server.Stream().Tau / pictureDigits
	if r := math.Round(v/unit) * unit; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r
	}
	return v
}
