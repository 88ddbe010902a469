package density_test

import (
	"fmt"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// The density of arrival times over a day, which is periodic, from 2000 people.
func Example() {
	d, err := density.New(density.Config{
		Box: []space.Interval{{A: 0, B: 24}}, Names: []string{"hour"}, Periodic: true,
		Guarantee: privacy.ZCDP(0.5), Unit: "visitor", N: 2000,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 2000 {
		if err := d.Add([]float64{8 + 4*float64(i)/2000}); err != nil { // one point each, between 8 and 12
			fmt.Println(err)
			return
		}
	}
	r, err := d.Release(noise.Seeded(1)) // noise.Crypto() for people's data
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := density.Of(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := table.Probability([]space.Interval{{A: 8, B: 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %v: half of the visitors come between 8 and 10: %.1f\n", r.Privacy.Guarantee, r.Space, p)
	// Output:
	// ρ = 0.5 (zCDP), fourier:129: half of the visitors come between 8 and 10: 0.5
}
