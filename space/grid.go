// Grids: the public points on which a kernel space is built.

package space

import (
	"fmt"
	"math"
	"slices"
)

// Grid is a list of public points T in a domain, strictly increasing. It is checked where it is used.
type Grid struct {
	Domain Interval
	T      []float64
}

// Uniform is n equally spaced points of [a,b] with both ends; one point is the middle.
func Uniform(a, b float64, n int) Grid {
	g := Grid{Domain: Interval{a, b}}
	if n < 1 || n > MaxGrid {
		return g.oversized(n)
	}
	g.T = make([]float64, n)
	for j := range g.T {
		if n == 1 {
			g.T[j] = a + float64((b-a)/2)
			continue
		}
		// The explicit conversion forbids fusing, so that every processor makes the same points.
		g.T[j] = a + float64((b-a)*(float64(j)/float64(n-1)))
	}
	if n > 1 {
		g.T[n-1] = b
	}
	return g
}

// Midpoints is the middles of n equal parts of [a,b]. It is the grid for periodic kernels, for which the
// two ends of the domain are the same point.
func Midpoints(a, b float64, n int) Grid {
	g := Grid{Domain: Interval{a, b}}
	if n < 1 || n > MaxGrid {
		return g.oversized(n)
	}
	g.T = make([]float64, n)
	for j := range g.T {
		g.T[j] = a + float64((b-a)*((float64(j)+0.5)/float64(n)))
	}
	return g
}

// oversized keeps the fact that too many points were asked for without making them.
func (g Grid) oversized(n int) Grid {
	if n > MaxGrid {
		g.T = make([]float64, MaxGrid+1)
	}
	return g
}

// Points is a grid of given points, in any order, which it copies and sorts. It refuses an invalid domain,
// a point outside it or not a number, a point given twice, and fewer than 1 or more than MaxGrid points.
func Points(domain Interval, t []float64) (Grid, error) {
	g := Grid{Domain: domain, T: t}
	if len(t) <= MaxGrid {
		g.T = slices.Clone(t)
		slices.Sort(g.T)
	}
	return g, g.Validate()
}

// Validate returns an error unless the domain is valid and T is strictly increasing within it.
func (g Grid) Validate() error {
	if err := g.Domain.Validate(); err != nil {
		return err
	}
	if len(g.T) < 1 {
		return fmt.Errorf("space: grid has no points: give at least 1 point in the domain %v", g.Domain)
	}
	if len(g.T) > MaxGrid {
		return fmt.Errorf("space: grid has more than %d points: a kernel space needs only a few points per length of its scale", MaxGrid)
	}
	for j, t := range g.T {
		switch {
		case math.IsNaN(t):
			return fmt.Errorf("space: grid has a point that is not a number: remove it")
		case !g.Domain.Contains(t):
			return fmt.Errorf("space: grid point %s lies outside the domain %v: widen the domain or remove the point", formatFloat(t), g.Domain)
		case j > 0 && t == g.T[j-1]:
			return fmt.Errorf("space: grid point %s occurs twice: give every point once, and no more points than the domain %v can tell apart", formatFloat(t), g.Domain)
		case j > 0 && t < g.T[j-1]:
			return fmt.Errorf("space: grid point %s comes after %s: sort the points (Points does)", formatFloat(t), formatFloat(g.T[j-1]))
		}
	}
	return nil
}
