package experiment

import (
	"math"
	"runtime"
	"sync"

	"github.com/curveil/curveil/fit"
)

// Mean is an average over curves and repetitions with its standard error over
// curves: repetitions on one curve are not independent pieces of evidence.
type Mean struct{ Value, StandardError float64 }

// Average is the mean of trial(i, repetition) over curves i and repetitions, the
// curves spread over the processors.
func Average(curves []fit.Curve, repetitions int, trial func(i, repetition int) (float64, error)) (Mean, error) {
	each := make([]float64, len(curves))
	errs := make([]error, len(curves))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range curves {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for r := range repetitions {
				v, err := trial(i, r)
				if err != nil {
					errs[i] = err
					return
				}
				each[i] += v / float64(repetitions)
			}
		})
	}
	wg.Wait()
	var sum, squares float64
	for i, v := range each {
		if errs[i] != nil {
			return Mean{}, errs[i]
		}
		sum += v
		squares += v * v
	}
	n := float64(len(curves))
	return Mean{sum / n, math.Sqrt(math.Max(squares/n-sum*sum/n/n, 0) / math.Max(n-1, 1))}, nil
}
