// Command ratio measures the verbs of a curveil binary against a bare read of the same
// file, and how their cost grows, and prints tables in Markdown. A cost is processor
// time, user and system, of a process of its own, which who else is using the machine
// hardly moves; the first table has the clock beside it, which shows what is done on
// several processors and means nothing on a busy machine.
//
//	go build -o /tmp/curveil ./cmd/curveil && go run ./internal/ratio -curveil /tmp/curveil
//
// A bare read is encoding/csv with ReuseRecord and strconv.ParseFloat of every field that
// holds a number; of a Parquet file, parquet-go's rows, read into one buffer. With
// -numpy a Python that has NumPy does the same work in the same run.
package main

import (
	"bufio"
	_ "embed"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

func main() {
	log.SetFlags(0)
	bare := flag.String("bare", "", "read this file and exit")
	curveil := flag.String("curveil", "curveil", "the command to measure")
	large := flag.Bool("large", false, "also ten million people (1 GB of temporary files)")
	python := flag.String("numpy", "", "a Python interpreter with NumPy, to compare with")
	flag.Parse()
	if *bare != "" {
		if err := bareRead(*bare); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "curveil-ratio-")
	if err != nil {
		log.Fatal(err)
	}
	m := &machine{dir: dir, curveil: *curveil, python: *python}
	err = m.tables(*large)
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

func bareRead(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasSuffix(path, ".parquet") {
		r := parquet.NewReader(f)
		rows := make([]parquet.Row, 256)
		for {
			if _, err := r.ReadRows(rows); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	for {
		record, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, field := range record {
			if _, err := strconv.ParseFloat(field, 64); err != nil {
				continue // an id, or the header
			}
		}
	}
}

// machine runs processes.
type machine struct{ dir, curveil, python string }

// cpu is the least processor time of some runs, in milliseconds.
func (m *machine) cpu(runs int, name string, args ...string) (float64, error) {
	c, err := m.cost(runs, name, args...)
	return c.cpu, err
}

// cost is in milliseconds.
type cost struct{ cpu, clock float64 }

// cost is the least of some runs.
func (m *machine) cost(runs int, name string, args ...string) (cost, error) {
	least := cost{math.Inf(1), math.Inf(1)}
	for range runs {
		c := exec.Command(name, args...)
		c.Env = append(os.Environ(), "CURVEIL_LEDGER=none")
		start := time.Now()
		if out, err := c.CombinedOutput(); err != nil {
			return cost{}, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		least.clock = min(least.clock, ms(time.Since(start)))
		least.cpu = min(least.cpu, ms(c.ProcessState.UserTime()+c.ProcessState.SystemTime()))
	}
	return least, nil
}

func (m *machine) bareCost(runs int, path string) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	return m.cost(runs, self, "-bare", path)
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

// wide writes smooth curves.
func (m *machine) wide(name string, people, times int) (string, error) {
	r := rand.New(rand.NewPCG(8, uint64(people)))
	header := "id"
	t := make([]float64, times)
	for j := range t {
		t[j] = float64(j) / float64(times-1)
		header += "," + strconv.FormatFloat(t[j], 'g', -1, 64)
	}
	return m.csv(name, header, people, func(b []byte, i int) []byte {
		b = strconv.AppendInt(b, int64(i), 10)
		a, c := r.NormFloat64(), r.NormFloat64()
		for _, t := range t {
			b = appendSmooth(append(b, ','), a, c, t)
		}
		return append(b, '\n')
	})
}

func appendSmooth(b []byte, a, c, t float64) []byte {
	return strconv.AppendFloat(b, math.Round(1e7*(a*math.Sin(6*t)+c*t))/1e7, 'g', -1, 64)
}

// long writes smooth curves with a row for each sample, all at the same times or each at its own.
func (m *machine) long(name string, people, times int, own bool) (string, error) {
	r := rand.New(rand.NewPCG(8, uint64(people)))
	var a, c float64
	return m.csv(name, "id,t,value", people*times, func(b []byte, i int) []byte {
		if i%times == 0 {
			a, c = r.NormFloat64(), r.NormFloat64()
		}
		t := float64(i%times) / float64(times-1)
		if own {
			t = math.Round(1e6*(float64(i%times)+r.Float64())/float64(times)) / 1e6
		}
		b = strconv.AppendInt(b, int64(i/times), 10)
		b = strconv.AppendFloat(append(b, ','), t, 'g', -1, 64)
		return append(appendSmooth(append(b, ','), a, c, t), '\n')
	})
}

// points writes points in the unit cube.
func (m *machine) points(name string, people, variables int) (string, error) {
	r := rand.New(rand.NewPCG(8, uint64(people)))
	return m.csv(name, strings.Join([]string{"x", "y", "z"}[:variables], ","), people, func(b []byte, _ int) []byte {
		for k := range variables {
			if k > 0 {
				b = append(b, ',')
			}
			u := (r.Float64() + r.Float64()) / 2
			b = strconv.AppendFloat(b, math.Round(u*1e7)/1e7, 'g', -1, 64)
		}
		return append(b, '\n')
	})
}

// track writes one signal of n samples.
func (m *machine) track(name string, n int) (string, error) {
	r := rand.New(rand.NewPCG(8, uint64(n)))
	x := 0.0
	return m.csv(name, "t,x", n, func(b []byte, i int) []byte {
		x += r.NormFloat64()
		b = strconv.AppendInt(b, int64(i), 10)
		return append(strconv.AppendFloat(append(b, ','), math.Round(1e4*x)/1e4, 'g', -1, 64), '\n')
	})
}

func (m *machine) csv(name, header string, rows int, row func(b []byte, i int) []byte) (string, error) {
	f, err := os.Create(m.path(name))
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString(header + "\n")
	var b []byte
	for i := range rows {
		b = row(b[:0], i)
		w.Write(b)
	}
	return f.Name(), errors.Join(w.Flush(), f.Close())
}

// parquet copies a CSV file of numbers.
func (m *machine) parquet(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.Create(strings.TrimSuffix(path, ".csv") + ".parquet")
	if err != nil {
		return "", err
	}
	r := csv.NewReader(in)
	names, err := r.Read()
	if err != nil {
		return "", err
	}
	group := parquet.Group{}
	for _, n := range names {
		group[n] = parquet.Leaf(parquet.DoubleType)
		if n == "id" {
			group[n] = parquet.Leaf(parquet.Int64Type)
		}
	}
	schema := parquet.NewSchema("rows", group)
	column := map[string]int{}
	for i, path := range schema.Columns() {
		column[path[0]] = i
	}
	w := parquet.NewWriter(out, schema)
	row := make(parquet.Row, len(names))
	for {
		record, err := r.Read()
		if err == io.EOF {
			return out.Name(), errors.Join(w.Close(), out.Close())
		}
		if err != nil {
			return "", err
		}
		for i, field := range record {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return "", err
			}
			k := column[names[i]]
			row[k] = parquet.DoubleValue(v).Level(0, 0, k)
			if names[i] == "id" {
				row[k] = parquet.Int64Value(int64(v)).Level(0, 0, k)
			}
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return "", err
		}
	}
}

// The verbs as they are measured.
func meanArgs(path string, more ...string) []string {
	return append([]string{"mean", path, "--bound", "1", "--mu", "1", "--id", "id"}, more...)
}

func densityArgs(path string, variables int, more ...string) []string {
	columns, bounds := []string{"x", "y", "z"}[:variables], []string{"0:1", "0:1", "0:1"}[:variables]
	return append([]string{"density", path, "--columns", strings.Join(columns, ","), "--bounds", strings.Join(bounds, ","), "--rho", "0.5"}, more...)
}

func (m *machine) tables(large bool) error {
	fmt.Printf("%s/%s, %d processors, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	wide, err := m.wide("wide.csv", 100_000, 100)
	if err != nil {
		return err
	}
	flat, err := m.points("flat.csv", 1_000_000, 2)
	if err != nil {
		return err
	}
	line, err := m.points("line.csv", 1_000_000, 1)
	if err != nil {
		return err
	}
	track, err := m.track("track.csv", 200_000)
	if err != nil {
		return err
	}
	widePq, err := m.parquet(wide)
	if err != nil {
		return err
	}
	flatPq, err := m.parquet(flat)
	if err != nil {
		return err
	}
	long, err := m.long("long.csv", 30_000, 100, false)
	if err != nil {
		return err
	}
	irregular, err := m.long("irregular.csv", 30_000, 30, true)
	if err != nil {
		return err
	}
	longPq, err := m.parquet(long)
	if err != nil {
		return err
	}
	fmt.Print("| verb | file | bare read, ms | verb, ms | ratio | bare read by the clock, ms | verb by the clock, ms | ratio |\n|---|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		verb, file, path string
		args             []string
	}{
		{"mean, fit-then-protect, gauss 20% of 100 points", "CSV, 10⁵ curves × 100", wide, meanArgs(wide, "--space", "kernel:gauss:20%:100")},
		{"mean, fit-then-protect, legendre:6", "the same", wide, meanArgs(wide)},
		{"mean, protect-then-fit, legendre:6", "the same", wide, meanArgs(wide, "--method", "ptf")},
		{"mean partial, legendre:6", "the same", wide, append(meanArgs(wide, "--force", "-o", m.path("p")), "partial")},
		{"mean, fit-then-protect, gauss 20% of 100 points", "Parquet, 10⁵ curves × 100", widePq, meanArgs(widePq, "--space", "kernel:gauss:20%:100")},
		{"mean, protect-then-fit, legendre:6", "the same", widePq, meanArgs(widePq, "--method", "ptf")},
		{"mean, fit-then-protect, legendre:6", "long CSV, 3·10⁶ rows of 3·10⁴ curves", long, meanArgs(long, "--domain", "0:1")},
		{"mean, fit-then-protect, legendre:6", "long Parquet, the same", longPq, meanArgs(longPq, "--domain", "0:1")},
		{"mean, fit-then-protect, legendre:6", "long CSV, 3·10⁴ curves of 30 samples, each at its own times", irregular, meanArgs(irregular, "--domain", "0:1")},
		{"density, 1 variable, rank 64", "CSV, 10⁶ points", line, densityArgs(line, 1, "--rank", "64")},
		{"density, 2 variables, rank 8", "CSV, 10⁶ points × 2", flat, densityArgs(flat, 2, "--rank", "8")},
		{"density, 2 variables, rank 8", "Parquet, 10⁶ points × 2", flatPq, densityArgs(flatPq, 2, "--rank", "8")},
		{"curve, denoise, at most 2¹⁰ pieces", "CSV, 1 signal of 2·10⁵ samples", track, curveArgs(track, m.path("t.csv"))},
	} {
		args := row.args
		if last := len(args) - 1; args[last] == "partial" {
			args = append([]string{"mean", "partial"}, args[1:last]...)
		}
		read, err := m.bareCost(5, row.path)
		if err != nil {
			return err
		}
		verb, err := m.cost(5, m.curveil, args...)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		fmt.Printf("| %s | %s | %.0f | %.0f | %.2f | %.0f | %.0f | %.2f |\n", row.verb, row.file,
			read.cpu, verb.cpu, verb.cpu/read.cpu, read.clock, verb.clock, verb.clock/read.clock)
	}
	if m.python != "" {
		if err := m.compare(wide, line, flat); err != nil {
			return err
		}
	}
	return m.growth(large)
}

//go:embed numpy.py
var script []byte

// compare prints what NumPy takes for the same files, parse and computation apart.
func (m *machine) compare(wide, line, flat string) error {
	if err := os.WriteFile(m.path("compare.py"), script, 0o600); err != nil {
		return err
	}
	fmt.Print("\n| work | NumPy: parse, ms | NumPy: compute, ms | curveil: the whole command, ms | ratio |\n|---|---|---|---|---|\n")
	for _, row := range []struct {
		work         string
		python, verb []string
	}{
		{"mean of 10⁵ × 100, gauss 20%, ball of radius 1", []string{"mean", wide}, meanArgs(wide, "--space", "kernel:gauss:20%:100")},
		{"density of 10⁶, rank 64", []string{"density", line, "64"}, densityArgs(line, 1, "--rank", "64")},
		{"density of 10⁶ × 2, rank 8", []string{"density", flat, "8"}, densityArgs(flat, 2, "--rank", "8")},
	} {
		least := [2]float64{math.Inf(1), math.Inf(1)}
		for range 3 {
			out, err := exec.Command(m.python, append([]string{m.path("compare.py")}, row.python...)...).Output()
			if err != nil {
				return fmt.Errorf("%s: %w", m.python, err)
			}
			var parse, compute float64
			if _, err := fmt.Sscan(string(out), &parse, &compute); err != nil {
				return fmt.Errorf("%s printed %q: %w", m.python, out, err)
			}
			least = [2]float64{min(least[0], parse), min(least[1], compute)}
		}
		verb, err := m.cpu(3, m.curveil, row.verb...)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.2f |\n", row.work, least[0], least[1], verb, verb/(least[0]+least[1]))
	}
	return nil
}

func curveArgs(path, out string) []string {
	return []string{"curve", path, "--rho", "0.01", "--window", "0:199999", "--every", "100", "--max-gap", "2", "--force", "-o", out}
}

// growth doubles one number at a time; linear is a ratio that stays.
func (m *machine) growth(large bool) error {
	fmt.Print("\n| what grows | size | verb, ms | per unit, µs |\n|---|---|---|---|\n")
	row := func(what string, size int, per float64, args []string) error {
		ms, err := m.cpu(1, m.curveil, args...)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %d | %.0f | %.3g |\n", what, size, ms, ms*1000/per)
		return nil
	}
	sizes := []int{10_000, 100_000, 1_000_000}
	if large {
		sizes = append(sizes, 10_000_000)
	}
	for _, n := range sizes {
		path, err := m.wide("n.csv", n, 5)
		if err != nil {
			return err
		}
		if err := row("n: people of a mean, 5 points each", n, float64(n), meanArgs(path, "--space", "legendre:3")); err != nil {
			return err
		}
	}
	for _, n := range sizes {
		path, err := m.points("n.csv", n, 1)
		if err != nil {
			return err
		}
		if err := row("n: people of a density, 1 variable, rank 64", n, float64(n), densityArgs(path, 1, "--rank", "64", "--n", strconv.Itoa(n))); err != nil {
			return err
		}
	}
	for _, t := range []int{50, 100, 200, 400} {
		path, err := m.wide("t.csv", 20_000, t)
		if err != nil {
			return err
		}
		if err := row("T: points of each of 2·10⁴ curves", t, float64(t)*20_000, meanArgs(path, "--space", "kernel:gauss:20%:100")); err != nil {
			return err
		}
	}
	for _, d := range []int{1, 2, 3} {
		path, err := m.points("d.csv", 200_000, d)
		if err != nil {
			return err
		}
		coefficients := math.Pow(5, float64(d))
		if err := row("d: variables of 2·10⁵ points, rank 4, per point and coefficient", d, 200_000*coefficients, densityArgs(path, d, "--rank", "4")); err != nil {
			return err
		}
	}
	path, err := m.points("m.csv", 500_000, 1)
	if err != nil {
		return err
	}
	for _, rank := range []int{64, 256, 1024} {
		if err := row("M: rank of 5·10⁵ points, 1 variable, per point and coefficient", rank, 500_000*float64(rank), densityArgs(path, 1, "--rank", strconv.Itoa(rank))); err != nil {
			return err
		}
	}
	return nil
}
