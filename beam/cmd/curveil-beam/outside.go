package main

import (
	"fmt"
	"io"

	"github.com/curveil/curveil/beam"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/flags"
)

// judge refuses a box that most points lie outside of, unless it was said what should
// become of these, as the core command does. The counts are private and are not printed.
func judge(w io.Writer, t *beam.Total, becomes density.Outside, said bool) error {
	most := t.Outside > t.Points/2
	switch {
	case most && !said:
		return flags.Usagef("most of the points lie outside the box: are --columns in the order of --bounds, and in its units? Nothing was spent. Where it is meant, --outside zero (points outside count in n only) or --outside clamp says so")
	case t.Outside == 0:
		return nil
	}
	some := map[bool]string{false: "some", true: "most"}[most]
	words := map[density.Outside]string{density.Zero: "count in n only", density.Clamp: "count as points on its edge"}[becomes]
	fmt.Fprintf(w, "curveil-beam: %s points lie outside the box; they %s (this is for the curator: a box that is chosen by it is read off the data)\n", some, words)
	return nil
}
