package curve

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
)

// All releases many curves, each by its own person and with the whole budget,
// on all processors. Results are in the order of the curves and, for a seeded
// source, do not depend on the number of processors. The first error, or the end
// of the context, stops it; the error says which curve. Proof note:
// docs/privacy.md#privacy-filter, for each curve.
func (p *Privatizer) All(ctx context.Context, curves []fit.Curve, src *noise.Source) ([]*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]*Result, len(curves))
	sources := make([]*noise.Source, len(curves))
	if !src.Private() {
		for i := range sources {
			sources[i] = src.Split() // in order, hence reproducible
		}
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(curves)) {
		wg.Go(func() {
			own := src
			if src.Private() {
				own = noise.Crypto()
			}
			for {
				i := int(next.Add(1) - 1)
				if i >= len(curves) || ctx.Err() != nil {
					return
				}
				if sources[i] != nil {
					own = sources[i]
				}
				r, err := p.Privatize(curves[i], own)
				if err != nil {
					cancel(fmt.Errorf("curve %d of %d: %w", i+1, len(curves), err))
					return
				}
				results[i] = r
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}
