package space

import (
	"fmt"
	"math"
)

// CheckReach refuses a kernel space whose kernel is all but zero between the points of its grid: its functions are combs, and
// whatever lies between the teeth is lost. At a third of the spacing a Gaussian kernel has a third of its height left midway;
// that is the limit. Other spaces pass. It is for spaces that somebody has asked for in words; the library takes any.
func CheckReach(s Space) error {
	k, ok := s.(*KernelSpace)
	if !ok || !k.kern.scaled() || len(k.grid.T) < 2 {
		return nil
	}
	domain := k.grid.Domain
	scale := k.kern.scale
	if k.kern.relative {
		scale *= domain.Length()
	}
	widest := 0.0
	for i, t := range k.grid.T[1:] {
		widest = max(widest, t-k.grid.T[i])
	}
	if 3*scale >= widest {
		return nil
	}
	fix := "take a larger scale"
	if n := math.Ceil(domain.Length()/scale) + 1; n <= MaxGrid {
		fix += fmt.Sprintf(", or %.0f points (kernel:%v:%.0f)", n, k.kern, n)
	}
	return fmt.Errorf("space: between its %d points, which are up to %.3g apart, a kernel of scale %.3g is all but zero: %s", len(k.grid.T), widest, scale, fix)
}
