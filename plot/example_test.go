package plot_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/curveil/curveil/plot"
)

func ExampleLines() {
	p, err := plot.Lines([]plot.Series{
		{Name: "measured", X: []float64{100, 200, 400}, Y: []float64{4.1e-3, 0.98e-3, 0.26e-3}, Marks: true},
		{Name: "4B²/(n²μ²)", X: []float64{100, 400}, Y: []float64{4e-3, 0.25e-3}, Theory: true},
	}, plot.Axes{Title: "Error of the private mean", XLabel: "n", YLabel: "mean squared error", LogX: true, LogY: true})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "plot")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fmt.Println(p.Save(filepath.Join(dir, "error.pdf")))
	fmt.Println(p.Save(filepath.Join(dir, "error.jpg")) != nil)
	// Output:
	// <nil>
	// true
}
