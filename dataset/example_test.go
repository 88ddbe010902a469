package dataset_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/curveil/curveil/dataset"
)

// Reading a table of curves, one person at a time.
func Example() {
	const table = "id;0;0,5;1\nann;1;2,5;3\nbob;2;;1\n" // decimal commas, a missing cell
	r, err := dataset.NewCSV(strings.NewReader(table), "table.csv", dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for r.Next() {
		p := r.Person()
		fmt.Println(p.Unit, p.Curves[0][0].T, p.Curves[0][0].X)
	}
	if r.Err() != nil {
		log.Fatal(r.Err())
	}
	// Output:
	// ann [0 0.5 1] [1 2.5 3]
	// bob [0 1] [2 1]
}
