package release_test

import (
	"fmt"
	"log"
	"os"

	"github.com/curveil/curveil/release"
)

func open(path string) *release.Release {
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	r, err := release.Decode(f)
	if err != nil {
		log.Fatal(err)
	}
	return r
}

// A release says what it is, what it guarantees, and its value anywhere in its
// domain with a band for the noise.
func Example() {
	r := open("testdata/growth.json")
	fmt.Println(r.Privacy)
	g, err := r.Guarantee(1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(g)
	lo, hi := r.Band(12, 0.95)
	fmt.Printf("height at 12: %.1f cm, 95%% band for the noise [%.1f, %.1f]\n", r.At(12), lo, hi)
	// Output:
	// μ = 1 (GDP), replace-one child
	// ε = 4.886554117462219, δ = 1e-06 (approximate DP)
	// height at 12: 120.4 cm, 95% band for the noise [118.3, 122.5]
}

func ExampleRelease_Eval() {
	r := open("testdata/gait.json")
	x := make([]float64, len(r.Components))
	if err := r.Eval(x, 0.25); err != nil {
		log.Fatal(err)
	}
	for k, name := range r.Components {
		fmt.Printf("%s %.2f\n", name, x[k])
	}
	err := r.Eval(x, 1.5)
	fmt.Println(err)
	// Output:
	// hip -37.53
	// knee 0.18
	// release: t=1.5 is outside the domain [0, 1] of the release; ask inside it
}

// The simultaneous band holds the whole curve without noise at once.
func ExampleRelease_Bands() {
	r := open("testdata/growth.json")
	ts := []float64{2, 6, 10, 14, 18}
	point, _, err := r.Bands(ts, 0.95, false)
	if err != nil {
		log.Fatal(err)
	}
	all, _, err := r.Bands(ts, 0.95, true)
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range ts {
		fmt.Printf("%2g  %.1f  %.1f\n", t, point[0][i], all[0][i])
	}
	// Output:
	//  2  120.8  119.3
	//  6  121.1  120.4
	// 10  119.4  118.8
	// 14  117.4  116.8
	// 18  113.6  112.1
}
