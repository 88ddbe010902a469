package curve_test

import (
	"fmt"

	"github.com/curveil/curveil/curve"
	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// A track of an hour, in metres about a public origin, released at ε = 0.01 per
// metre root mean square: two tracks 100 m apart are told apart at ε·d = 1.
func ExamplePrivatize() {
	track := fit.Curve{
		{T: []float64{0, 600, 1800, 3600}, X: []float64{0, 2000, 2000, 9000}},
		{T: []float64{0, 600, 1800, 3600}, X: []float64{0, 500, 500, 4000}},
	}
	result, err := curve.Privatize(curve.Config{
		Window:     space.Interval{A: 0, B: 3600},
		Guarantee:  privacy.Geo(0.01),
		Distance:   "m",
		Components: []string{"east", "north"},
	}, track, noise.Seeded(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Release.Privacy)
	for _, s := range result.Trace {
		fmt.Printf("%-33s %v\n", s.Step, s.Guarantee)
	}
	t, x, err := curve.Grid(result.Release, 600)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(t), "points of", len(x), "components")
	// Output:
	// ε = 0.01 per unit of distance (geo-privacy), distance rms in m, curve
	// number of pieces (sparse vector)  ε = 0.000625 per unit of distance (geo-privacy)
	// release                           ε = 0.009375 per unit of distance (geo-privacy)
	// 7 points of 2 components
}
