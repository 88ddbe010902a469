// Package experiment holds the comparisons behind published figures: data on
// disk, baselines, error tables. Nothing in it is private or part of the product.
package experiment

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/space"
)

// TaxiWindow is the 12-hour window of the taxi curves, in seconds.
var TaxiWindow = space.Interval{A: 1211058000, B: 1211058000 + 43200}

// Taxi reads the taxi curves of dir (cab_NNN.csv: unix_time, lat, lon) in
// Web-Mercator metres about (37.7749, −122.4194), in order of their names.
func Taxi(dir string) ([]fit.Curve, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "cab_*.csv"))
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("experiment: no cab_*.csv in %s", dir)
	}
	sort.Strings(paths)
	var curves []fit.Curve
	for _, path := range paths {
		c, err := readCab(path)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return curves, nil
}

func readCab(path string) (fit.Curve, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	if _, err := r.Read(); err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", path, err)
	}
	x0, y0 := mercator(37.7749, -122.4194)
	c := fit.Curve{{}, {}}
	for {
		row, err := r.Read()
		if err == io.EOF {
			c[1].T = c[0].T
			return c, nil
		}
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %w", path, err)
		}
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				return nil, fmt.Errorf("experiment: %s: %w", path, err)
			}
		}
		x, y := mercator(v[1], v[2])
		c[0].T = append(c[0].T, v[0])
		c[0].X = append(c[0].X, x-x0)
		c[1].X = append(c[1].X, y-y0)
	}
}

// mercator is the spherical Web-Mercator projection (EPSG:3857) in metres.
func mercator(lat, lon float64) (x, y float64) {
	const radius = 6378137
	rad := math.Pi / 180
	return radius * lon * rad, radius * math.Log(math.Tan(math.Pi/4+lat*rad/2))
}
