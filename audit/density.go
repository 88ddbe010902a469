package audit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// densityPeople is the cohort of the worst case.
const densityPeople = 50

// Density is a projection of rank 1 on a circle: one person's point moves to the
// other side, where the tight sensitivity is attained.
func Density(claim privacy.Guarantee) (Subject, error) {
	c := density.Config{
		Box: []space.Interval{{A: 0, B: 1}}, Periodic: true, Rank: []int{1}, Method: density.Projection,
		Guarantee: claim, Unit: "person",
	}
	var partial [2][]byte
	for k := range partial {
		d, err := density.New(c)
		if err != nil {
			return Subject{}, err
		}
		if err := d.Add([]float64{0.25 + 0.5*float64(k)}); err != nil {
			return Subject{}, err
		}
		for range densityPeople - 1 {
			if err := d.Add([]float64{0.5}); err != nil {
				return Subject{}, err
			}
		}
		if partial[k], err = d.MarshalBinary(); err != nil {
			return Subject{}, err
		}
	}
	return Subject{
		Name:  "density/projection",
		About: "one person's point moves to the other side of the circle",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			d, err := density.New(c)
			if err != nil {
				return 0, err
			}
			if err := d.UnmarshalBinary(partial[k]); err != nil {
				return 0, err
			}
			r, err := d.Release(src)
			if err != nil {
				return 0, err
			}
			return r.At(0.75) - r.At(0.25), nil
		},
	}, nil
}

// moved is a density of four people, of whom one is at the point.
func moved(c density.Config, point float64) (*density.Density, error) {
	d, err := density.New(c)
	if err != nil {
		return nil, err
	}
	return d, d.AddPoints([]float64{point, 0.5, 0.5, 0.5})
}

// changeOfRank2 is by how much the five Fourier functions of rank 2 change between the points.
func changeOfRank2(points [2]float64) ([]float64, error) {
	sp, err := space.Fourier(space.Interval{A: 0, B: 1}, 5)
	if err != nil {
		return nil, err
	}
	from, change := make([]float64, 5), make([]float64, 5)
	sp.Eval(from, points[0])
	sp.Eval(change, points[1])
	floats.Sub(change, from)
	return change, nil
}

// Layered is the same for the layered release, at two points on which its joint
// account is tight: attackers weigh each shell by its own noise.
func Layered(claim privacy.Guarantee) (Subject, error) {
	c := density.Config{
		Box: []space.Interval{{A: 0, B: 1}}, Periodic: true, Rank: []int{2}, Method: density.Layered,
		Guarantee: claim, Unit: "person", Plain: true,
	}
	// For equal noise in both shells the account Σ(2−2cos 2πku), k = 1, 2, is
	// largest at cos 2πu = −1/4.
	points := [2]float64{0.2, 0.2 + math.Acos(-0.25)/(2*math.Pi)}
	change, err := changeOfRank2(points)
	if err != nil {
		return Subject{}, err
	}
	return Subject{
		Name:  "density/layered",
		About: "one person's point moves; each shell is weighed by its noise",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			d, err := moved(c, points[k])
			if err != nil {
				return 0, err
			}
			r, err := d.Release(src)
			if err != nil {
				return 0, err
			}
			y := r.Raw
			if y == nil {
				y = r.Coefficients
			}
			var s float64
			for j := 1; j < len(change); j++ {
				sd := r.Noise.Scales[0]
				if j > 2 {
					sd = r.Noise.Scales[1]
				}
				s += y[0][j] * change[j] / (sd * sd)
			}
			if math.IsNaN(s) {
				return 0, nil
			}
			return s, nil
		},
	}, nil
}

// Family is the paper's family of ranks, for an attacker who sees all its members: each has noise of its own, and all are
// about the same people. The point moves to where the members together, weighed by their noise, change most.
func Family(claim privacy.Guarantee) (Subject, error) {
	c := density.Config{
		Box: []space.Interval{{A: 0, B: 1}}, Periodic: true, Rank: []int{2}, Method: density.Family,
		Guarantee: claim, Unit: "person",
	}
	// Ranks 1 and 2 with half of the budget each: (2−2cos 2πu)/4 + Σ(2−2cos 2πku)/(25/4), k = 1, 2, is largest here.
	points := [2]float64{0.2, 0.2 + math.Acos(-0.65625)/(2*math.Pi)}
	change, err := changeOfRank2(points)
	if err != nil {
		return Subject{}, err
	}
	return Subject{
		Name:  "density/family",
		About: "one person's point moves; the attacker sees all members, weighed by their noise",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			d, err := moved(c, points[k])
			if err != nil {
				return 0, err
			}
			members, err := d.Members(src)
			if err != nil {
				return 0, err
			}
			var s float64
			for _, r := range members {
				sd := r.Noise.Scales[0]
				for j := 1; j < len(change) && float64((j+1)/2) <= r.Noise.Ranks[0]; j++ {
					s += r.Coefficients[0][j] * change[j] / (sd * sd)
				}
			}
			return s, nil
		},
	}, nil
}
