package regression_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// A person's device and the server exchange two texts: the model, and the report.
func Example() {
	sp, err := space.Kernel(space.Gaussian(0.1), space.Midpoints(0, 1, 64))
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := regression.Stream{Name: "sleep by time of day", Basis: regression.OneVariable(sp), Tau: 0.7, Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}}
	if stream.Steps, err = regression.DefaultSteps(stream, 100_000); err != nil {
		fmt.Println(err)
		return
	}
	server, err := regression.NewServer(stream)
	if err != nil {
		fmt.Println(err)
		return
	}
	published, err := server.ModelJSON()
	if err != nil {
		fmt.Println(err)
		return
	}

	// On the device.
	var model regression.Model
	if err := json.Unmarshal(published, &model); err != nil {
		fmt.Println(err)
		return
	}
	client, err := regression.NewClient(&model, regression.ClientConfig{Ceiling: privacy.Approx{Epsilon: 2, Delta: 1e-6}})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := client.Contribute(context.Background(), []float64{0.3}, 1.2)
	if err != nil {
		fmt.Println(err)
		return
	}

	// On the server; the second arrival is a retry.
	for range 2 {
		repeated, err := server.Apply(report)
		fmt.Println(repeated, err, server.At())
	}
	// Output:
	// false <nil> 1
	// true <nil> 1
}

// A study in one process: how good would the curve be?
func ExampleSimulate() {
	sp, err := space.Kernel(space.Gaussian(0.1), space.Midpoints(0, 1, 64))
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := regression.Stream{Name: "study", Basis: regression.OneVariable(sp), Tau: 0.7, Budget: privacy.Approx{Epsilon: 8, Delta: 1e-5}}
	if stream.Steps, err = regression.DefaultSteps(stream, 20_000); err != nil {
		fmt.Println(err)
		return
	}
	people := func(yield func(regression.Point) bool) {
		rnd := rand.New(rand.NewPCG(1, 1))
		for range 20_000 {
			x := rnd.Float64()
			if !yield(regression.Point{X: []float64{x}, Y: math.Sin(2*math.Pi*x) + 0.5*rnd.NormFloat64()}) {
				return
			}
		}
	}
	server, err := regression.Simulate(context.Background(), regression.Simulation{Stream: stream, Source: noise.Seeded(1)}, people)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at the crest: %.1f\n", server.Estimate([]float64{0.25}))
	// Output:
	// at the crest: 0.8
}
