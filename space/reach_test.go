package space

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckReach(t *testing.T) {
	for text, says := range map[string]string{
		"kernel:gauss:0.001%":    "all but zero: take a larger scale",
		"kernel:gauss:0.5%":      "take a larger scale, or 201 points (kernel:gauss:0.5%:201)",
		"kernel:laplace:0.05":    "201 points (kernel:laplace:0.05:201)",
		"kernel:matern52:1%:20":  "between its 20 points, which are up to 0.526 apart, a kernel of scale 0.1",
		"kernel:periodic:0.2%":   "all but zero",
		"kernel:gauss:1%":        "",
		"kernel:gauss:0.5%:201":  "",
		"kernel:brownian:3":      "",
		"kernel:sobolev1:2":      "",
		"kernel:gauss:0.00001:1": "",
		"legendre:6":             "",
	} {
		s, err := Parse(text, Interval{0, 10})
		if err != nil {
			t.Fatal(err)
		}
		err = CheckReach(s)
		if got := fmt.Sprint(err); says == "" && err != nil || says != "" && !strings.Contains(got, says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
