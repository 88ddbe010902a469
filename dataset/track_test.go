package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/curveil/curveil/space"
	"github.com/google/go-cmp/cmp"
)

func tracksOf(r *TrackReader, err error) ([]*Track, error) {
	if err != nil {
		return nil, err
	}
	var all []*Track
	for r.Next() {
		all = append(all, r.Track())
	}
	return all, errors.Join(r.Err(), r.Close())
}

func readTracks(path string, o TrackOptions) ([]*Track, error) { return tracksOf(OpenTracks(path, o)) }

func textTracks(text string, format Format, o TrackOptions) ([]*Track, error) {
	return tracksOf(NewTracks(strings.NewReader(text), format, "test", o))
}

func one(t *testing.T, path string, o TrackOptions) *Track {
	t.Helper()
	all, err := readTracks(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Fatalf("%s: %d tracks, want one", path, len(all))
	}
	return all[0]
}

func TestCabsInThreeFormats(t *testing.T) {
	for _, cab := range []struct {
		name   string
		points int
	}{{"038", 774}, {"349", 773}, {"508", 766}} {
		want := one(t, shared(t, "taxi/cab_"+cab.name+".csv"), TrackOptions{})
		if len(want.Curve[0].T) != cab.points || !want.Geographic || want.Name != "" {
			t.Errorf("cab %s: %d points, geographic %v, name %q", cab.name, len(want.Curve[0].T), want.Geographic, want.Name)
		}
		for _, suffix := range []string{".gpx", ".geojson"} {
			got := one(t, shared(t, "taxi/cab_"+cab.name+suffix), TrackOptions{})
			if d := cmp.Diff(want.Curve, got.Curve); d != "" {
				t.Errorf("cab_%s%s does not read as its CSV (-want +got):\n%s", cab.name, suffix, d)
			}
			if d := cmp.Diff(want.Components, got.Components); d != "" {
				t.Errorf("components (-want +got):\n%s", d)
			}
			if !strings.HasPrefix(got.Name, "cab ") {
				t.Errorf("name %q", got.Name)
			}
			if &got.Curve[0].T[0] != &got.Curve[1].T[0] {
				t.Error("lat and lon do not share their times")
			}
		}
	}
}

// One long CSV holds what a folder of files does, in the order of names.
func TestLongFileAndFolder(t *testing.T) {
	long, err := readTracks(shared(t, "taxi/taxi.csv"), TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(long) != 24 {
		t.Fatalf("%d tracks, want 24", len(long))
	}
	folder := t.TempDir()
	for i, track := range long {
		data, err := os.ReadFile(shared(t, fmt.Sprintf("taxi/cab_%03s.csv", track.Name)))
		if err != nil {
			t.Fatal(err)
		}
		if track.Number != i+1 {
			t.Errorf("track %d has number %d", i+1, track.Number)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("cab_%03s.csv", track.Name)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenTracks(folder, TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"README.md"}, r.Skipped()); d != "" {
		t.Errorf("skipped (-want +got):\n%s", d)
	}
	apart, err := tracksOf(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(long, func(a, b *Track) int {
		return strings.Compare(fmt.Sprintf("%03s", a.Name), fmt.Sprintf("%03s", b.Name))
	})
	if len(apart) != len(long) {
		t.Fatalf("%d tracks in the folder, want %d", len(apart), len(long))
	}
	for i := range apart {
		if d := cmp.Diff(long[i].Curve, apart[i].Curve); d != "" {
			t.Fatalf("%s (-want +got):\n%s", apart[i].File, d)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "x.gpx"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTracks(folder, TrackOptions{}); err == nil || !strings.Contains(err.Error(), "csv and gpx") {
		t.Errorf("a folder of two formats: %v", err)
	}
	if apart, err = readTracks(folder, TrackOptions{Format: CSV}); err != nil || len(apart) != 24 {
		t.Errorf("a folder of two formats, one named: %d tracks, %v", len(apart), err)
	}
}

// The track files of ../shared/data/README.md, messy/.
func TestMessyTracks(t *testing.T) {
	want := one(t, shared(t, "messy/clean_track.csv"), TrackOptions{})
	for _, file := range []string{"iso8601_time_zones.csv", "lonlat_column_order.csv"} {
		got := one(t, shared(t, "messy/"+file), TrackOptions{})
		if d := cmp.Diff(want.Curve, got.Curve); d != "" {
			t.Errorf("%s does not read as clean_track.csv (-want +got):\n%s", file, d)
		}
		if got.ISO != (file == "iso8601_time_zones.csv") {
			t.Errorf("%s: ISO %v", file, got.ISO)
		}
	}
	swapped := shared(t, "messy/latlon_swapped_values.csv")
	_, err := readTracks(swapped, TrackOptions{})
	checkDataError(t, err, swapped, 2, 2, "lat", "-122.42363 is outside [-90, 90]")
}

func TestGPSJumps(t *testing.T) {
	path := shared(t, "messy/gps_jumps.csv")
	plain := one(t, path, TrackOptions{})
	if len(plain.Curve[0].T) != 300 {
		t.Fatalf("%d points, want 300", len(plain.Curve[0].T))
	}
	const kmh = 1 / 3.6
	_, err := readTracks(path, TrackOptions{MaxSpeed: 200 * kmh})
	checkDataError(t, err, path, 5, 0, "", "179 of 299 steps", "line 4", "line 5", "drop", "clip")
	steps := func(track *Track) (fast int) {
		lat, lon, at := track.Curve[0].X, track.Curve[1].X, track.Curve[0].T
		for i := 1; i < len(at); i++ {
			if chord(lat[i-1], lon[i-1], lat[i], lon[i]) > 200*kmh*(at[i]-at[i-1])*(1+1e-6) {
				fast++
			}
		}
		return fast
	}
	if n := steps(plain); n != 179 {
		t.Errorf("%d steps over 200 km/h, want 179", n)
	}
	dropped := one(t, path, TrackOptions{MaxSpeed: 200 * kmh, Outside: Drop})
	left := len(dropped.Curve[0].T)
	if dropped.Changes.Speed != 300-left || steps(dropped) != 0 {
		t.Errorf("dropped %d of 300, %d left, %d still too fast", dropped.Changes.Speed, left, steps(dropped))
	}
	if want := longestByTrial(plain, 200*kmh); left != want {
		t.Errorf("%d points left, the longest course has %d", left, want)
	}
	clipped := one(t, path, TrackOptions{MaxSpeed: 200 * kmh, Outside: Clip})
	if len(clipped.Curve[0].T) != 300 || clipped.Changes.Speed == 0 || steps(clipped) != 0 {
		t.Errorf("clipped: %d points, %d moved, %d still too fast", len(clipped.Curve[0].T), clipped.Changes.Speed, steps(clipped))
	}
	t.Logf("dropped %d, clipped %d of 300", dropped.Changes.Speed, clipped.Changes.Speed)

	box := &Box{South: 37, West: -122.4, North: 38.3, East: -121.3}
	_, err = readTracks(path, TrackOptions{Box: box})
	checkDataError(t, err, path, 5, 0, "", "of 300 points are outside the box", "line 5")
	inBox := one(t, path, TrackOptions{Box: box, Outside: Drop})
	if n := len(inBox.Curve[0].T); n+inBox.Changes.Box != 300 || n < 2 || slices.Min(inBox.Curve[1].X) < -122.4 {
		t.Errorf("box: %d left, %d dropped, westernmost %g", n, inBox.Changes.Box, slices.Min(inBox.Curve[1].X))
	}
	toBox := one(t, path, TrackOptions{Box: box, Outside: Clip})
	if len(toBox.Curve[0].T) != 300 || toBox.Changes != inBox.Changes || slices.Min(toBox.Curve[1].X) != -122.4 {
		t.Errorf("box: clipped %+v", toBox.Changes)
	}
}

// longestByTrial is the quadratic dynamic program.
func longestByTrial(track *Track, speed float64) int {
	lat, lon, at := track.Curve[0].X, track.Curve[1].X, track.Curve[0].T
	best, all := make([]int, len(at)), 0
	for j := range at {
		best[j] = 1
		for i := range j {
			if chord(lat[i], lon[i], lat[j], lon[j]) <= speed*(at[j]-at[i])*slack {
				best[j] = max(best[j], best[i]+1)
			}
		}
		all = max(all, best[j])
	}
	return all
}

// One jump costs one point, wherever it is, the first included.
func TestOneJump(t *testing.T) {
	for jump := range 20 {
		var b strings.Builder
		b.WriteString("unix_time,lat,lon\n")
		for i := range 20 {
			lat := 45 + 1e-5*float64(i)
			if i == jump {
				lat += 1
			}
			fmt.Fprintf(&b, "%d,%g,7\n", 1000+i, lat)
		}
		all, err := textTracks(b.String(), CSV, TrackOptions{MaxSpeed: 10, Outside: Drop})
		if err != nil {
			t.Fatal(err)
		}
		if c := all[0].Changes; c.Speed != 1 || len(all[0].Curve[0].T) != 19 || slices.Contains(all[0].Curve[0].T, 1000+float64(jump)) {
			t.Errorf("jump at point %d: %+v, %d points left", jump, c, len(all[0].Curve[0].T))
		}
	}
}

// The work on a track of nothing but jumps stays bounded.
func TestNothingButJumps(t *testing.T) {
	var b strings.Builder
	b.WriteString("unix_time,lat,lon\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "%d,%g,%g\n", i, float64(i*7919%17000)/100-85, float64(i*104729%35000)/100-175)
	}
	start := time.Now()
	_, err := textTracks(b.String(), CSV, TrackOptions{MaxSpeed: 1, Outside: Drop})
	checkDataError(t, err, "test", 3, 0, "", "so many that no course is left")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

const secondsTrack = "t,lat,lon\n0,45,7\n10,45.001,7\n20,45.002,7\n30,45.003,7\n90,45.009,7\n100,45.010,7\n"

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name    string
		w       space.Interval
		gap     float64
		t, x    []float64
		changes Changes
		says    string
		line    int
	}{
		{"between samples", space.Interval{A: 5, B: 25}, 10, []float64{5, 10, 20, 25}, []float64{45.0005, 45.001, 45.002, 45.0025}, Changes{Outside: 4}, "", 0},
		{"on samples", space.Interval{A: 10, B: 30}, 10, []float64{10, 20, 30}, []float64{45.001, 45.002, 45.003}, Changes{Outside: 3}, "", 0},
		{"in one gap", space.Interval{A: 12, B: 18}, 10, []float64{12, 18}, []float64{45.0012, 45.0018}, Changes{Outside: 6}, "", 0},
		{"held at the ends", space.Interval{A: -5, B: 105}, 60, []float64{-5, 0, 10, 20, 30, 90, 100, 105}, []float64{45, 45, 45.001, 45.002, 45.003, 45.009, 45.010, 45.010}, Changes{Extended: [2]float64{5, 5}}, "", 0},
		{"gap inside", space.Interval{A: 0, B: 100}, 59, nil, nil, Changes{}, "no sample for 60 s, between line 5 at 30 s and line 6 at 90 s", 6},
		{"gap touched", space.Interval{A: 0, B: 31}, 59, nil, nil, Changes{}, "no sample for 60 s", 6},
		{"gap outside", space.Interval{A: 0, B: 30}, 59, []float64{0, 10, 20, 30}, []float64{45, 45.001, 45.002, 45.003}, Changes{Outside: 2}, "", 0},
		{"begins late", space.Interval{A: -100, B: 20}, 60, nil, nil, Changes{}, "100 s after the window does", 2},
		{"ends early", space.Interval{A: 0, B: 200}, 60, nil, nil, Changes{}, "ends with line 7 at 100 s, 100 s before the window does", 7},
		{"elsewhere", space.Interval{A: 1000, B: 2000}, 60, nil, nil, Changes{}, "nothing in the window from 1000 s to 2000 s", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := textTracks(secondsTrack, CSV, TrackOptions{Window: &c.w, MaxGap: c.gap})
			if c.says != "" {
				checkDataError(t, err, "test", c.line, 0, map[bool]string{true: "", false: "t"}[c.name == "elsewhere"], c.says)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := all[0]
			if d := cmp.Diff(c.t, got.Curve[0].T); d != "" {
				t.Errorf("times (-want +got):\n%s", d)
			}
			for i, x := range got.Curve[0].X {
				if math.Abs(x-c.x[i]) > 1e-12 {
					t.Errorf("latitude %d is %g, want %g", i, x, c.x[i])
				}
			}
			if got.Changes != c.changes {
				t.Errorf("changes %+v, want %+v", got.Changes, c.changes)
			}
		})
	}
}

func TestCabsFillTheirWindow(t *testing.T) {
	r, err := OpenTracks(shared(t, "taxi/taxi.csv"), TrackOptions{Window: &space.Interval{A: 1211058000, B: 1211101200}, MaxGap: 600,
		Box: &Box{South: 37, West: -123, North: 38.3, East: -121.3}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := NewProjection(37.7749, -122.4194)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r.Next() {
		n++
		c, err := r.Track().Plane(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(space.Interval{A: 1211058000, B: 1211101200}, 2); err != nil {
			t.Error(err)
		}
		if at := c[0].T; at[0] != 1211058000 || at[len(at)-1] != 1211101200 {
			t.Errorf("%s lasts from %g to %g", r.Track().Name, at[0], at[len(at)-1])
		}
	}
	if r.Err() != nil || n != 24 {
		t.Fatal(n, r.Err())
	}
}

// Signals are cut one by one, and a longitude goes the nearer way round.
func TestWindowOfComponents(t *testing.T) {
	all, err := textTracks("t,a,b\n0,1,\n1,,4\n2,3,6\n3,4,8\n", CSV, TrackOptions{Window: &space.Interval{A: 0.5, B: 2.5}, MaxGap: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := all[0].Curve
	if d := cmp.Diff([][]float64{{0.5, 2, 2.5}, {1.5, 3, 3.5}, {0.5, 1, 2, 2.5}, {4, 4, 6, 7}}, [][]float64{c[0].T, c[0].X, c[1].T, c[1].X}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	all, err = textTracks("t,lat,lon\n0,10,179\n10,10,-179\n", CSV, TrackOptions{Window: &space.Interval{A: 2, B: 8}, MaxGap: 20})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{179.4, -179.4}, all[0].Curve[1].X); d != "" {
		t.Errorf("across the antimeridian (-want +got):\n%s", d)
	}
}

func TestTableTracks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          TrackOptions
		components []string
		names      []string
		ground     bool
	}{
		{"lat and lon among others", "time,ele,lon,speed,lat\n1,100,7,3,45\n2,101,7,3,45\n", TrackOptions{}, []string{"lat", "lon"}, []string{""}, true},
		{"other columns asked for", "time,ele,lon,speed,lat\n1,100,7,3,45\n2,101,7,3,45\n", TrackOptions{Options: Options{Values: []string{"ele"}}}, []string{"ele"}, []string{""}, false},
		{"lon and lat asked for", "time,ele,lon,lat\n1,100,7,45\n2,101,7,45\n", TrackOptions{Options: Options{Values: []string{"lon", "lat"}}}, []string{"lat", "lon"}, []string{""}, true},
		{"many", "id,t,x,y\na,1,1,2\nb,1,1,2\nb,2,3,4\na,2,3,4\n", TrackOptions{}, []string{"x", "y"}, []string{"a", "b"}, false},
		{"wide", "id,1,2,3\na,5,6,7\nb,6,,8\n", TrackOptions{}, []string{"value"}, []string{"a", "b"}, false},
		{"unsorted", "t,x\n3,1\n1,2\n2,3\n", TrackOptions{}, []string{"x"}, []string{""}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := textTracks(c.text, CSV, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var names, components []string
			for _, track := range all {
				names = append(names, track.Name)
				if track.Geographic != c.ground {
					t.Errorf("geographic %v", track.Geographic)
				}
			}
			for _, component := range all[0].Components {
				components = append(components, component.Name)
			}
			if d := cmp.Diff([][]string{c.components, c.names}, [][]string{components, names}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestTableTracksRefused(t *testing.T) {
	box := &Box{South: 0, West: 0, North: 1, East: 1}
	for _, c := range []struct {
		name, text string
		o          TrackOptions
		line       int
		column     int
		field      string
		says       []string
	}{
		{"one point", "t,lat,lon\n1,45,7\n", TrackOptions{}, 2, 0, "", []string{"1 point only"}},
		{"one sample of a signal", "t,a,b\n1,45,7\n2,,8\n", TrackOptions{}, 2, 0, "", []string{"1 sample only of 'a'"}},
		{"no value", "t,a,b\n1,45,\n2,46,\n", TrackOptions{}, 2, 0, "", []string{"no sample of 'b'"}},
		{"half a place", "t,lat,lon\n1,45,7\n2,,7\n3,45,7\n", TrackOptions{}, 3, 2, "lat", []string{"only one of latitude and longitude"}},
		{"other half", "t,lat,lon\n3,45,7\n2,45,\n1,45,7\n", TrackOptions{}, 3, 3, "lon", []string{"only one of latitude and longitude"}},
		{"not a number", "t,lat,lon\n1,45,7\n2,NaN,NaN\n", TrackOptions{}, 2, 0, "", []string{"1 point only"}},
		{"infinite", "t,lat,lon\n1,45,7\n2,inf,7\n", TrackOptions{}, 3, 2, "lat", []string{"not finite"}},
		{"same time", "t,lat,lon\n1,45,7\n2,45,7\n1,45,7\n", TrackOptions{}, 4, 1, "t", []string{"time 1", "line 2"}},
		{"no zone", "time,lat,lon\n2020-01-01T00:00:00,45,7\n2020-01-01T00:00:10,45,7\n", TrackOptions{}, 2, 1, "time", []string{"without a zone", "zone option"}},
		{"gap", "t,lat,lon\n100,45,7\n0,45,7\n", TrackOptions{MaxGap: 99}, 2, 0, "t", []string{"no sample for 100 s", "line 3", "line 2"}},
		{"box of a signal", "t,a\n1,45\n2,45\n", TrackOptions{Box: box}, 2, 0, "", []string{"this is a signal"}},
		{"nothing in the box", "t,lat,lon\n1,45,7\n2,45,7\n", TrackOptions{Box: box, Outside: Drop}, 2, 0, "", []string{"0 points left"}},
		{"nothing in the box in the window", "t,lat,lon\n1,45,7\n2,45,7\n", TrackOptions{Box: box, Outside: Drop, Window: &space.Interval{A: 1, B: 2}, MaxGap: 1}, 2, 0, "", []string{"nothing is left"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := textTracks(c.text, CSV, c.o)
			checkDataError(t, err, "test", c.line, c.column, c.field, c.says...)
		})
	}
}

func TestTrackOptionsRefused(t *testing.T) {
	for _, c := range []struct {
		says string
		o    TrackOptions
	}{
		{"unit", TrackOptions{Options: Options{Unit: "person"}}},
		{"domain", TrackOptions{Options: Options{Domain: &space.Interval{A: 0, B: 1}}}},
		{"constant", TrackOptions{Options: Options{Constant: true}}},
		{"format", TrackOptions{Format: "kml"}},
		{"window", TrackOptions{Window: &space.Interval{A: 2, B: 1}, MaxGap: 1}},
		{"window", TrackOptions{Window: &space.Interval{A: math.NaN(), B: 1}, MaxGap: 1}},
		{"max gap", TrackOptions{Window: &space.Interval{A: 1, B: 2}}},
		{"max gap", TrackOptions{MaxGap: math.NaN()}},
		{"max speed", TrackOptions{MaxSpeed: -1}},
		{"outside", TrackOptions{Outside: "delete"}},
		{"box", TrackOptions{Box: &Box{South: 1, North: 0, East: 1}}},
		{"box", TrackOptions{Box: &Box{South: 0, North: 1, West: 5, East: 5}}},
		{"box", TrackOptions{Box: &Box{South: 0, North: 1, West: -200, East: 5}}},
	} {
		if _, err := NewTracks(strings.NewReader(""), CSV, "test", c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if _, err := OpenTracks(t.TempDir(), TrackOptions{}); err == nil || !strings.Contains(err.Error(), "no track in the folder") {
		t.Errorf("empty folder: %v", err)
	}
	if _, err := OpenTracks(filepath.Join(t.TempDir(), "none.gpx"), TrackOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestBoxAcrossTheAntimeridian(t *testing.T) {
	b := Box{South: -20, West: 175, North: -10, East: -175}
	if err := b.validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lat, lon     float64
		in           bool
		toLat, toLon float64
	}{
		{-15, 179, true, -15, 179},
		{-15, -179, true, -15, -179},
		{-15, 170, false, -15, 175},
		{-15, -100, false, -15, -175},
		{-25, 180, false, -20, 180},
		{0, 100, false, -10, 175},
	} {
		if b.holds(c.lat, c.lon) != c.in {
			t.Errorf("%g, %g: in the box %v", c.lat, c.lon, !c.in)
		}
		if lat, lon := b.clip(c.lat, c.lon); lat != c.toLat || lon != c.toLon {
			t.Errorf("%g, %g clips to %g, %g, want %g, %g", c.lat, c.lon, lat, lon, c.toLat, c.toLon)
		}
	}
	bay := Box{South: 37, West: -122.4, North: 38, East: -121.3}
	for _, c := range [][2]float64{{179, -122.4}, {-122.5, -122.4}, {-121, -121.3}, {50, -121.3}} {
		if _, lon := bay.clip(37.5, c[0]); lon != c[1] {
			t.Errorf("longitude %g clips to %g, want %g", c[0], lon, c[1])
		}
	}
}
