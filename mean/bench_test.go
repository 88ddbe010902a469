//go:build unix

package mean

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/lattice"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// cpu is the processor time this process has used: unlike the clock it does not
// depend on what else the machine does.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMean is the acceptance figure: 100,000 curves × 100 points, Gaussian
// kernel 0.2 on a grid of 100, half of the constraints active. Run with -cpu 1:
//
//	go test -run '^$' -bench Mean -cpu 1 -benchtime 3x ./mean
//
// All stages report processor time per curve; “parse” is strconv.ParseFloat of the
// same numbers, shortest form. The curves come from a pool of 4096, larger than the
// processor's cache.
func BenchmarkMean(b *testing.B) {
	const people, pool = 100_000, 4096
	sp, grid := kernel100(b)
	x := smooth(rand.New(rand.NewPCG(1, 1)), sp, grid, pool)
	text := make([][]string, pool)
	for i := range x {
		text[i] = make([]string, len(x[i]))
		for j, v := range x[i] {
			text[i][j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	p := sp.Dim()
	stage := func(name string, f func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			start := cpu(b)
			for b.Loop() {
				f(b)
			}
			b.ReportMetric(float64((cpu(b)-start).Nanoseconds())/float64(b.N)/people, "cpu-ns/curve")
		})
	}
	stage("parse", func(b *testing.B) {
		for i := range people {
			for _, s := range text[i%pool] {
				if _, err := strconv.ParseFloat(s, 64); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	design, err := fit.NewDesign(sp, grid, nil)
	if err != nil {
		b.Fatal(err)
	}
	coords := make([]float64, pool*p)
	all := make([]float64, 0, pool*len(grid))
	for _, row := range x {
		all = append(all, row...)
	}
	lambda := make([]float64, pool)
	var solver fit.Solver
	stage("fit", func(b *testing.B) {
		for i := 0; i < people; i += pool {
			rows := min(pool, people-i)
			solver.Fit(design, coords[:rows*p], all[:rows*len(grid)], 1, 1, lambda[:rows])
		}
	})
	ball, err := lattice.NewBall(1, p)
	if err != nil {
		b.Fatal(err)
	}
	sum, ints := lattice.NewSum(ball), make([]int64, p)
	stage("round-and-add", func(b *testing.B) {
		for i := range people {
			k := i % pool
			if err := ball.Round(ints, coords[k*p:(k+1)*p]); err != nil {
				b.Fatal(err)
			}
			if err := sum.Add(ints); err != nil {
				b.Fatal(err)
			}
		}
	})
	release := func(b *testing.B, method Method) {
		m := mustNew(b, Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person", Method: method, Grid: grid})
		curve := fit.Curve{{T: grid}}
		for i := range people {
			curve[0].X = x[i%pool]
			if err := m.Add(curve); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := m.Release(noise.Crypto()); err != nil {
			b.Fatal(err)
		}
	}
	stage("fit-then-protect", func(b *testing.B) { release(b, FitThenProtect) })
	stage("protect-then-fit", func(b *testing.B) { release(b, ProtectThenFit) })
	active := 0
	for _, l := range lambda {
		if l > 0 {
			active++
		}
	}
	b.Logf("%d modes; %.2f of the constraints active", p, float64(active)/pool)
}

// BenchmarkIrregular is curves with times of their own: each is factorised.
func BenchmarkIrregular(b *testing.B) {
	sp, _ := kernel100(b)
	rnd := rand.New(rand.NewPCG(1, 1))
	curves := make([]fit.Curve, 500)
	for i := range curves {
		curves[i] = fit.Curve{{T: increasing(rnd, 30), X: normals(rnd, 30, 1)}}
	}
	for b.Loop() {
		m := mustNew(b, Config{Space: sp, Radius: 1, Guarantee: privacy.GDP(1), Unit: "person"})
		for _, c := range curves {
			mustAdd(b, m, c)
		}
		sumOf(b, m)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(curves)), "ns/curve")
}
