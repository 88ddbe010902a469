// The randomness of the methods, behind an interface so that tests can script
// it. Everything outside tests is exact.

package curve

import (
	"fmt"
	"math"

	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
)

type draws interface {
	// first runs the sparse vector technique with 1-Lipschitz queries g(0) …
	// g(n−1) against the threshold and returns its index.
	first(budget privacy.Guarantee, threshold float64, n int, g func(j int) float64) (int, error)
	// scalar is the value of a 1-Lipschitz function with noise.
	scalar(budget privacy.Guarantee, v float64) (float64, error)
	// vector sets dst to the coordinates with noise, drawn once for all.
	vector(budget privacy.Guarantee, dst, coordinates []float64) error
	private() bool
}

type exact struct{ src *noise.Source }

func (e exact) private() bool { return e.src.Private() }

func (e exact) first(budget privacy.Guarantee, threshold float64, n int, g func(j int) float64) (int, error) {
	epsilon := sparseEpsilon(budget)
	third := privacy.DivDown(float64(epsilon), 3)
	// third + rest ≤ ε exactly, for the subtraction rounds down.
	v, err := mechanism.NewSparseVector(privacy.Geo(third), privacy.Geo(privacy.AddDown(float64(epsilon), -third)), 1, threshold, e.src)
	if err != nil {
		return 0, err
	}
	return v.First(n, g), nil
}

func (e exact) scalar(budget privacy.Guarantee, v float64) (float64, error) {
	x := []float64{v}
	err := e.vector(budget, x, x)
	return x[0], err
}

func (e exact) vector(budget privacy.Guarantee, dst, coordinates []float64) error {
	l, err := mechanism.NewLocal(budget)
	if err != nil {
		return err
	}
	l.Release(dst, coordinates, e.src)
	// Whether the lattice ended is read off the noisy values: post-processing.
	for _, v := range dst {
		if math.Abs(v) >= 0x1p62*l.Step() {
			return fmt.Errorf("%v adds so little noise that the values are more than 2^37 times larger, beyond the lattice: ask for more privacy", budget)
		}
	}
	return nil
}

// sparseEpsilon is the ε of a sparse vector run: the budget itself, or √(2ρ), at
// which an ε-geo-private run is ε²/2 = ρ concentrated.
func sparseEpsilon(budget privacy.Guarantee) privacy.Geo {
	switch g := budget.(type) {
	case privacy.Geo:
		return g
	case privacy.ConcentratedGeo:
		return privacy.Geo(privacy.SqrtDown(privacy.MulDown(2, float64(g))))
	}
	panic("curve: guarantee of another kind")
}

// noiseOf is the law of the noise that vector adds at a budget.
func noiseOf(budget privacy.Guarantee) (release.Noise, error) {
	l, err := mechanism.NewLocal(budget)
	if err != nil {
		return release.Noise{}, err
	}
	return release.Noise{Law: l.Law(), Scale: l.Scale()}, nil
}
