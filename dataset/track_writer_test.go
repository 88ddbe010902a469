package dataset

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	iso "github.com/curveil/curveil/internal/clock"
)

func writeTracks(t *testing.T, path string, format Format, many bool, outs ...Output) []byte {
	t.Helper()
	w, err := CreateTracks(path, format, many)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range outs {
		if err := w.Write(out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before Commit")
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".curveil-*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return data
}

func ground(n int) Output {
	out := Output{Geographic: true, Components: []Component{{"lat", "degrees"}, {"lon", "degrees"}}, X: make([][]float64, 2), Time: "unix_time"}
	for i := range n {
		out.T = append(out.T, 1211058000+7.5*float64(i))
		out.X[0] = append(out.X[0], 37.7749+math.Sin(float64(i)))
		out.X[1] = append(out.X[1], 179.9999999*math.Cos(float64(i)))
	}
	return out
}

func signals(n int) Output {
	out := Output{Components: []Component{{"MLII", "mV"}, {"blood, pressure", "mm Hg"}}, X: make([][]float64, 2)}
	for i := range n {
		out.T = append(out.T, float64(i)/360)
		out.X[0] = append(out.X[0], math.Sin(float64(i)/7))
		out.X[1] = append(out.X[1], 90+30*math.Cos(float64(i)/11))
	}
	return out
}

// sameAs checks a track that was read against the output that was written.
func sameAs(t *testing.T, track *Track, out Output, tolerance []float64) {
	t.Helper()
	if track.Geographic != out.Geographic || len(track.Curve) != len(out.X) {
		t.Fatalf("geographic %v, %d components", track.Geographic, len(track.Curve))
	}
	for k, s := range track.Curve {
		if len(s.T) != len(out.T) {
			t.Fatalf("%d times, want %d", len(s.T), len(out.T))
		}
		for i := range s.T {
			if math.Abs(s.T[i]-out.T[i]) > 1e-6 || math.Abs(s.X[i]-out.X[k][i]) > tolerance[k] {
				t.Fatalf("sample %d of component %d: %g at %g, want %g at %g", i, k, s.X[i], s.T[i], out.X[k][i], out.T[i])
			}
		}
	}
}

func TestRoundTrips(t *testing.T) {
	iso := ground(5)
	iso.ISO, iso.Time = true, "time"
	degrees, exact := []float64{5.1e-8, 5.1e-8}, []float64{0, 0}
	for _, c := range []struct {
		name, file string
		format     Format
		many       bool
		outs       []Output
		tolerance  []float64
	}{
		{"GPX", "a.gpx", GPX, false, []Output{ground(100)}, degrees},
		{"GPX, many", "a.gpx", GPX, true, []Output{ground(100), ground(7)}, degrees},
		{"GeoJSON", "a.geojson", GeoJSON, false, []Output{ground(100)}, degrees},
		{"GeoJSON, many", "a.geojson", GeoJSON, true, []Output{ground(100), ground(7)}, degrees},
		{"CSV", "a.csv", CSV, false, []Output{ground(100)}, degrees},
		{"CSV, dates", "a.csv", CSV, false, []Output{iso}, degrees},
		{"CSV, many", "a.csv", CSV, true, []Output{ground(100), ground(7), ground(2)}, degrees},
		{"CSV of signals", "a.csv", CSV, false, []Output{signals(50)}, exact},
		{"CSV of signals, many", "a.csv", CSV, true, []Output{signals(50), signals(3)}, exact},
		{"WFDB", "a-1.hea", WFDB, false, []Output{signals(5000)}, []float64{0.5 / 20000, 0.5 / 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			data := writeTracks(t, path, c.format, c.many, c.outs...)
			if c.format == GeoJSON && !json.Valid(data) {
				t.Errorf("not JSON:\n%s", data)
			}
			all, err := readTracks(path, TrackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != len(c.outs) {
				t.Fatalf("%d tracks, want %d", len(all), len(c.outs))
			}
			for i, track := range all {
				sameAs(t, track, c.outs[i], c.tolerance)
				if track.ISO != (c.outs[i].ISO || c.format == GPX || c.format == GeoJSON) {
					t.Errorf("ISO %v", track.ISO)
				}
				for k, component := range track.Components {
					if component.Name != c.outs[i].Components[k].Name {
						t.Errorf("component %q", component.Name)
					}
				}
			}
			again := writeTracks(t, filepath.Join(t.TempDir(), c.file), c.format, c.many, c.outs...)
			if !bytes.Equal(data, again) {
				t.Error("the same outputs give other bytes")
			}
		})
	}
}

// What an output holds of the file that was read: the names and units of its
// columns and nothing else.
func TestNoMetadata(t *testing.T) {
	const secret = "S3CRET"
	gpx := strings.NewReplacer("device 17", secret, "M\xfchle", secret, "made by hand", secret, "<cmt>no", "<cmt>"+secret, "2001-01-01", "2001-12-31").Replace(twoTracks)
	geo := `{"type":"Feature","id":"S3CRET","properties":{"name":"S3CRET","device":"S3CRET","coordTimes":["2001-12-31T10:00:00Z","2001-12-31T10:00:01Z"]},"geometry":{"type":"LineString","coordinates":[[7,45],[7,46]]}}`
	csv := "id,time,lat,lon,device\nS3CRET,2001-12-31T00:00:00Z,45,7,S3CRET\nS3CRET,2001-12-31T00:00:01Z,45,7,S3CRET\n"
	public := ground(4)
	for _, c := range []struct {
		format Format
		text   string
	}{{GPX, gpx}, {GeoJSON, geo}, {CSV, csv}} {
		all, err := textTracks(c.text, c.format, TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if all[0].Name != secret {
			t.Errorf("%s: name %q", c.format, all[0].Name)
		}
		data := writeTracks(t, filepath.Join(t.TempDir(), "a."+string(c.format)), c.format, true, all[0].Output(public.T, public.X))
		if bytes.Contains(data, []byte(secret)) || bytes.Contains(data, []byte("2001-12-31")) {
			t.Errorf("%s: metadata in\n%s", c.format, data)
		}
	}
}

func TestWriterBytes(t *testing.T) {
	out := ground(2)
	out.X[1] = []float64{-0.00000001, -122.4194}
	for _, c := range []struct {
		format Format
		many   bool
		want   string
	}{
		{CSV, false, "unix_time,lat,lon\n1211058000,37.7749000,0.0000000\n1211058007.5,38.6163710,-122.4194000\n"},
		{GPX, false, gpxHead + "<trk><trkseg>\n<trkpt lat=\"37.7749000\" lon=\"0.0000000\"><time>2008-05-17T21:00:00Z</time></trkpt>\n<trkpt lat=\"38.6163710\" lon=\"-122.4194000\"><time>2008-05-17T21:00:07.5Z</time></trkpt>\n</trkseg></trk>\n</gpx>\n"},
		{GeoJSON, false, `{"type":"Feature","properties":{"coordTimes":["2008-05-17T21:00:00Z","2008-05-17T21:00:07.5Z"]},"geometry":{"type":"LineString","coordinates":[[0.0000000,37.7749000],[-122.4194000,38.6163710]]}}` + "\n"},
	} {
		got := writeTracks(t, filepath.Join(t.TempDir(), "a"), c.format, c.many, out)
		if string(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.format, got, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "r.hea")
	header := writeTracks(t, path, WFDB, false, Output{T: []float64{5, 5.5, 6}, X: [][]float64{{1, -2, 0}, {0, 0, 0}}, Components: []Component{{"a\nb", "mm Hg"}, {"", ""}}})
	if want := "r 2 2 3\nr.dat 16 10000(0)/mm_Hg 16 0 10000 -10000 0 a b\nr.dat 16 1(0)/NU 16 0 0 0 0 \n"; string(header) != want {
		t.Errorf("header\n%s\nwant\n%s", header, want)
	}
}

func TestWriterRefuses(t *testing.T) {
	bad := func(change func(*Output)) Output {
		out := ground(3)
		change(&out)
		return out
	}
	for _, c := range []struct {
		says   string
		format Format
		out    Output
	}{
		{"2 values of 'lon' at 3 times", CSV, bad(func(o *Output) { o.X[1] = o.X[1][:2] })},
		{"must be finite", CSV, bad(func(o *Output) { o.X[0][1] = math.NaN() })},
		{"must be degrees", GPX, bad(func(o *Output) { o.X[0][1] = 95 })},
		{"must be finite and increase", CSV, bad(func(o *Output) { o.T[1] = o.T[0] })},
		{"no date", GPX, bad(func(o *Output) { o.T[2] = 1e12 })},
		{"two at least", CSV, ground(1)},
		{"write signals as CSV", GPX, signals(3)},
		{"equal steps", WFDB, bad(func(o *Output) { o.T[1]++ })},
		{"two columns", CSV, bad(func(o *Output) { o.Time = "lat" })},
		{"0 components", CSV, Output{T: []float64{1, 2}}},
	} {
		path := filepath.Join(t.TempDir(), "a.hea")
		w, err := CreateTracks(path, c.format, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(c.out); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
		if err := w.Discard(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	folder := t.TempDir()
	for _, c := range []struct {
		path   string
		format Format
		many   bool
	}{{"a.hea", WFDB, true}, {"a.b.hea", WFDB, false}, {"a.dat", WFDB, false}, {"a.parquet", Parquet, false}, {"none/a.csv", CSV, false}} {
		if _, err := CreateTracks(filepath.Join(folder, c.path), c.format, c.many); err == nil {
			t.Errorf("%v accepted", c)
		}
	}
	old := filepath.Join(folder, "old.csv")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := CreateTracks(old, CSV, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ground(2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(signals(2)); err == nil || !strings.Contains(err.Error(), "files of their own") {
		t.Errorf("other columns: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(old); string(data) != "old" {
		t.Errorf("the old file became %q", data)
	}
	for _, format := range []Format{CSV, GPX, GeoJSON} {
		if w, err = CreateTracks(old, format, false); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err == nil {
			t.Errorf("%s: an empty file of one track", format)
		}
	}
	if w, err = CreateTracks(filepath.Join(folder, "one.gpx"), GPX, false); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ground(2)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ground(2)); err == nil {
		t.Error("a second track in a file of one")
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(ground(2)); err == nil {
		t.Error("a track after Commit")
	}
}

func TestISOText(t *testing.T) {
	for _, c := range []struct {
		t    float64
		want string
	}{
		{0, "1970-01-01T00:00:00Z"},
		{-0.25, "1969-12-31T23:59:59.75Z"},
		{1211058045.9999999, "2008-05-17T21:00:46Z"},
		{firstDate, "0000-01-01T00:00:00Z"},
	} {
		got := iso.Text(c.t)
		back, err := iso.Parse([]byte(got), time.UTC)
		if got != c.want || err != nil || math.Abs(back-c.t) > 1e-6 {
			t.Errorf("%g is written %s, want %s; read %g, %v", c.t, got, c.want, back, err)
		}
	}
}
