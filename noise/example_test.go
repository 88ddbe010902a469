package noise_test

import (
	"fmt"

	"github.com/curveil/curveil/noise"
)

// A count of 1000 released with noise of standard deviation 10. In production
// the source is noise.Crypto().
func ExampleSource_RoundedNormal() {
	source := noise.Seeded(1)
	fmt.Println(1000+source.RoundedNormal(10), source.Private())
	// Output: 1007 false
}
