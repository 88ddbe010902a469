package mean_test

import (
	"fmt"
	"log"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// A private mean of 500 curves. The noise is seeded here so that the output is
// always the same; a release that protects anybody takes noise.Crypto().
func Example() {
	domain := space.Interval{A: 1, B: 18} // years
	sp, err := space.Legendre(domain, 4)
	if err != nil {
		log.Fatal(err)
	}
	m, err := mean.New(mean.Config{
		Space: sp, Radius: 30, Guarantee: privacy.GDP(1), Unit: "child",
		Reference: []release.Reference{release.Constant(120)},
	})
	if err != nil {
		log.Fatal(err)
	}
	ages := []float64{2, 5, 8, 11, 14, 17}
	for i := range 500 { // children may have been measured at other ages each
		taller := float64(i%21) - 10
		if err := m.Add(fit.Curve{{T: ages, X: []float64{90 + taller, 108 + taller, 126 + taller, 142 + taller, 158 + taller, 168 + taller}}}); err != nil {
			log.Fatal(err)
		}
	}
	r, err := m.Release(noise.Seeded(1))
	if err != nil {
		log.Fatal(err)
	}
	lo, hi := r.Band(10, 0.95)
	fmt.Printf("mean height at 10: %.1f cm, privacy noise within %.1f to %.1f\n", r.At(10), lo, hi)
	fmt.Println(r.Privacy.Guarantee, "per", r.Privacy.Unit)
	// Output:
	// mean height at 10: 136.7 cm, privacy noise within 136.3 to 137.0
	// μ = 1 (GDP) per child
}

// What a release will be worth, before any data are read.
func ExampleNewPlan() {
	sp, err := space.Legendre(space.Interval{A: 0, B: 1}, 5)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range []int64{100, 200, 400} {
		plan, err := mean.NewPlan(mean.PlanConfig{Config: mean.Config{
			Space: sp, Radius: 2, Guarantee: privacy.GDP(1), Unit: "patient", N: n,
		}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("n = %d: privacy noise %.3f\n", n, plan.Predictions[0].PrivacyNoise)
	}
	// Output:
	// n = 100: privacy noise 0.089
	// n = 200: privacy noise 0.045
	// n = 400: privacy noise 0.022
}
