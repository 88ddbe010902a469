package curve

import "github.com/curveil/curveil/fit"

func (p *Privatizer) denoise(c fit.Curve, b *budget, d draws) (*Result, error) { panic("todo") }
