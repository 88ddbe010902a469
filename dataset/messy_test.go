package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/curveil/curveil/fit"
	"github.com/google/go-cmp/cmp"
)

// shared returns a file of the real data beside the repository, or skips.
func shared(t testing.TB, name string) string {
	path := filepath.Join("..", "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s beside the repository", path)
	}
	return path
}

// whole is a file read to its end, in memory of its own.
type whole struct {
	Schema Schema
	Units  []string
	Curves map[string][]fit.Curve
}

func readAll(r *Reader) (whole, error) {
	w := whole{Schema: r.Schema(), Curves: map[string][]fit.Curve{}}
	for r.Next() {
		p := r.Person()
		w.Units = append(w.Units, p.Unit)
		for _, c := range p.Curves {
			w.Curves[p.Unit] = append(w.Curves[p.Unit], cloneCurve(c))
		}
	}
	return w, r.Err()
}

func cloneCurve(c fit.Curve) fit.Curve {
	d := make(fit.Curve, len(c))
	for k, s := range c {
		d[k] = fit.Series{T: slices.Clone(s.T), X: slices.Clone(s.X)}
	}
	return d
}

func readFile(path string, o Options) (whole, error) {
	r, err := Open(path, o)
	if err != nil {
		return whole{}, err
	}
	defer r.Close()
	return readAll(r)
}

func readText(text string, o Options) (whole, error) {
	r, err := NewCSV(strings.NewReader(text), "test.csv", o)
	if err != nil {
		return whole{}, err
	}
	return readAll(r)
}

// Every line of ../shared/data/README.md, messy/.
func TestMessyAccepted(t *testing.T) {
	for _, c := range []struct{ file, reference string }{
		{"clean_growth_wide.csv", "clean_growth_long.csv"},
		{"semicolon_decimal_comma.csv", "clean_growth_long.csv"},
		{"semicolon_decimal_comma_wide.csv", "clean_growth_wide.csv"},
		{"bom.csv", "clean_growth_long.csv"},
		{"crlf.csv", "clean_growth_long.csv"},
		{"missing_empty_cells.csv", "missing_reference_long.csv"},
		{"missing_NA.csv", "missing_reference_long.csv"},
		{"missing_NaN.csv", "missing_reference_long.csv"},
		{"unsorted_times.csv", "clean_growth_long.csv"},
		{"iso8601_time_zones.csv", "clean_track.csv"},
		{"lonlat_column_order.csv", "clean_track.csv"},
	} {
		t.Run(c.file, func(t *testing.T) {
			got, err := readFile(shared(t, "messy/"+c.file), Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := readFile(shared(t, "messy/"+c.reference), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Curves, got.Curves); d != "" {
				t.Errorf("%s does not read as %s (-want +got):\n%s", c.file, c.reference, d)
			}
		})
	}
}

func TestMessyReferences(t *testing.T) {
	samples := func(w whole) (n int) {
		for _, curves := range w.Curves {
			for _, c := range curves {
				n += len(c[0].T)
			}
		}
		return n
	}
	for _, c := range []struct {
		file            string
		people, samples int
		components      []string
	}{
		{"clean_growth_long.csv", 6, 186, []string{"value"}},
		{"clean_growth_wide.csv", 6, 186, []string{"value"}},
		{"missing_reference_long.csv", 6, 180, []string{"value"}},
		{"clean_track.csv", 1, 60, []string{"lat", "lon"}},
		{"gps_jumps.csv", 1, 300, []string{"lat", "lon"}},
	} {
		w, err := readFile(shared(t, "messy/"+c.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Units) != c.people || samples(w) != c.samples {
			t.Errorf("%s: %d people, %d samples; want %d, %d", c.file, len(w.Units), samples(w), c.people, c.samples)
		}
		if d := cmp.Diff(c.components, w.Schema.Components); d != "" {
			t.Errorf("%s: components (-want +got):\n%s", c.file, d)
		}
	}
}

func TestMessyRefused(t *testing.T) {
	for _, c := range []struct {
		file         string
		line, column int
		name         string
		says         []string
	}{
		{"duplicate_timestamp.csv", 42, 2, "t", []string{"boy02", "time 6 ", "line 41"}},
		{"one_sample_curve.csv", 188, 0, "", []string{"girl04", "one sample only", "constant"}},
		{"infinite_value.csv", 101, 3, "value", []string{"'Inf'", "not finite"}},
		{"nonnumeric_header.csv", 1, 19, "adult", []string{"'adult' is not a number"}},
		{"uneven_row_short.csv", 4, 0, "", []string{"30 fields", "header has 32"}},
		{"uneven_row_long.csv", 6, 0, "", []string{"33 fields", "header has 32"}},
		{"latlon_swapped_values.csv", 2, 2, "lat", []string{"-122.42363 is outside [-90, 90]"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			path := shared(t, "messy/"+c.file)
			_, err := readFile(path, Options{})
			checkDataError(t, err, path, c.line, c.column, c.name, c.says...)
		})
	}
}

func checkDataError(t *testing.T, err error, file string, line, column int, name string, says ...string) {
	t.Helper()
	var e *DataError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a DataError", err)
	}
	if e.File != file || e.Line != line || e.Column != column || e.Name != name {
		t.Errorf("%v\nis at %s:%d:%d (%s), want %s:%d:%d (%s)", err, e.File, e.Line, e.Column, e.Name, file, line, column, name)
	}
	if e.Fix == "" {
		t.Errorf("%v: does not say what to do", err)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%v: does not say %q", err, s)
		}
	}
}

func TestConstantExtension(t *testing.T) {
	w, err := readFile(shared(t, "messy/one_sample_curve.csv"), Options{Constant: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := w.Curves["girl04"]; len(w.Units) != 7 || len(c) != 1 || len(c[0][0].T) != 1 {
		t.Errorf("girl04 has %v among %d people, want one sample among 7", c, len(w.Units))
	}
}

func TestRealFiles(t *testing.T) {
	for _, c := range []struct {
		file       string
		o          Options
		people     int
		samples    int // of each curve
		layout     string
		components []string
		id         string
		ignored    []string
	}{
		{"growth.csv", Options{}, 93, 31, Wide, []string{"value"}, "id", []string{"sex"}},
		{"growth_long.csv", Options{}, 93, 31, Long, []string{"value"}, "id", nil},
		{"gait.csv", Options{}, 39, 20, Long, []string{"hip", "knee"}, "id", nil},
		{"weather_temp.csv", Options{Values: []string{"temperature"}}, 35, 365, Wide, []string{"temperature"}, "station", nil},
		{"weather_precip.csv", Options{}, 35, 365, Wide, []string{"value"}, "station", nil},
		{"handwrit.csv", Options{}, 20, 1401, Long, []string{"x", "y"}, "id", nil},
		{"taxi/cab_038.csv", Options{}, 1, 774, Long, []string{"lat", "lon"}, "", nil},
		{"ecg/mitdb100_60s.csv", Options{}, 1, 21600, Long, []string{"MLII", "V5"}, "", nil},
		{"ecg/ptb_s0010_ii_100hz.csv", Options{}, 1, 1000, Long, []string{"ii_uV"}, "", nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			r, err := Open(shared(t, c.file), c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s := r.Schema()
			if s.Layout != c.layout || s.ID != c.id || !slices.Equal(s.Components, c.components) || !slices.Equal(s.Ignored, c.ignored) {
				t.Errorf("schema %+v", s)
			}
			people := 0
			var grid []float64
			for r.Next() {
				p := r.Person()
				people++
				if grid == nil {
					grid = p.Curves[0][0].T
				}
				for _, series := range p.Curves[0] {
					if len(series.T) != c.samples || len(series.X) != c.samples {
						t.Fatalf("%s: %d times, %d values, want %d", p.Unit, len(series.T), len(series.X), c.samples)
					}
					if &series.T[0] != &grid[0] {
						t.Errorf("%s: times are not shared", p.Unit)
					}
				}
			}
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			if people != c.people {
				t.Errorf("%d people, want %d", people, c.people)
			}
		})
	}
	wide, err := readFile(shared(t, "growth.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	long, err := readFile(shared(t, "growth_long.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wide.Curves, long.Curves); d != "" {
		t.Errorf("growth.csv and growth_long.csv differ:\n%s", d)
	}
	if d := cmp.Diff(wide.Units, long.Units); d != "" {
		t.Errorf("order of people differs:\n%s", d)
	}
}
