package dataset

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

const twoTracks = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- made by hand -->
<gpx version="1.0" creator="device 17" xmlns="http://www.topografix.com/GPX/1/0">
<time>2001-01-01T00:00:00Z</time>
<wpt lat="1" lon="2"><time>2001-01-01T00:00:00Z</time></wpt>
<trk><name> M` + "\xfc" + `hle </name><cmt>no</cmt><extensions><x><time>bad</time></x></extensions>
 <trkseg>
  <trkpt lon="7.5" lat="45.25"><ele>211.5</ele><time>2020-06-01T10:00:00Z</time><extensions><x:hr xmlns:x="u"><time>bad</time></x:hr></extensions></trkpt>
  <trkpt lat=" 45.5 " lon="-7.5e0"><time>
    2020-06-01T12:00:01.5+02:00 </time></trkpt>
 </trkseg>
 <trkseg/>
 <trkseg><trkpt lat="-90" lon="180"><time>2020-06-01T10:00:02Z</time></trkpt></trkseg>
</trk>
<trk><trkseg><trkpt lat="0" lon="0"><time>2020-06-01T10:00:00Z</time></trkpt><trkpt lat="0" lon="0"><time>2020-06-01T10:00:01Z</time></trkpt></trkseg></trk>
</gpx>`

func TestGPX(t *testing.T) {
	for _, text := range []string{twoTracks, strings.ReplaceAll(twoTracks, "\n", "\r\n")} {
		r, err := NewTracks(iotest.OneByteReader(strings.NewReader(text)), GPX, "test", TrackOptions{})
		all, err := tracksOf(r, err)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[0].Name != "Mühle" || all[1].Name != "" || all[0].Line != 6 || all[1].Number != 2 {
			t.Fatalf("%d tracks, %q on line %d, %q", len(all), all[0].Name, all[0].Line, all[1].Name)
		}
		c := all[0].Curve
		want := [][]float64{{1591005600, 1591005601.5, 1591005602}, {45.25, 45.5, -90}, {7.5, -7.5, 180}}
		if d := cmp.Diff(want, [][]float64{c[0].T, c[0].X, c[1].X}); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

func gpxOf(points string) string {
	return "<gpx>\n<trk><trkseg>\n<trkpt lat=\"45\" lon=\"7\"><time>2020-06-01T10:00:00Z</time></trkpt>\n" + points + "\n</trkseg></trk></gpx>"
}

func TestGPXRefused(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		field      string
		says       []string
	}{
		{"empty", "", 0, "", []string{"no track"}},
		{"nothing in it", "<gpx></gpx>", 0, "", []string{"no track"}},
		{"way points", `<gpx><wpt lat="1" lon="2"/><rte><rtept lat="1" lon="2"/></rte></gpx>`, 0, "", []string{"2 elements of a route or way points"}},
		{"other XML", "<kml></kml>", 1, "", []string{"'kml'", "gpx"}},
		{"not XML", "id,t\n", 0, "", []string{"no track"}},
		{"cut off", gpxOf("")[:70], 3, "", []string{"not well-formed", "cut off"}},
		{"no points", "<gpx>\n<trk/></gpx>", 2, "", []string{"track 1: it has 0 points only"}},
		{"one point", gpxOf(""), 2, "", []string{"track 1: it has 1 point only"}},
		{"no time", gpxOf(`<trkpt lat="45" lon="7"></trkpt>`), 4, "time", []string{"point 2 has no time"}},
		{"empty time", gpxOf(`<trkpt lat="45" lon="7"><time/></trkpt>`), 4, "time", []string{"point 2", "no time"}},
		{"two times", gpxOf(`<trkpt lat="45" lon="7"><time>2020-06-01T10:00:01Z</time><time>2020-06-01T10:00:01Z</time></trkpt>`), 4, "time", []string{"point 2 has two times"}},
		{"no zone", gpxOf(`<trkpt lat="45" lon="7"><time>2020-06-01T10:00:01</time></trkpt>`), 4, "time", []string{"point 2", "without a zone", "zone option"}},
		{"number for a time", gpxOf(`<trkpt lat="45" lon="7"><time>12</time></trkpt>`), 4, "time", []string{"point 2", "'12' is a number"}},
		{"no latitude", gpxOf(`<trkpt lon="7"><time>2020-06-01T10:00:01Z</time></trkpt>`), 4, "lat", []string{"point 2 has no lat"}},
		{"NaN", gpxOf(`<trkpt lat="NaN" lon="7"><time>2020-06-01T10:00:01Z</time></trkpt>`), 4, "lat", []string{"point 2 has lat='NaN'"}},
		{"infinite", gpxOf(`<trkpt lat="45" lon="-Infinity"><time>2020-06-01T10:00:01Z</time></trkpt>`), 4, "lon", []string{"point 2 has lon='-Infinity'"}},
		{"swapped", gpxOf(`<trkpt lat="-122" lon="37"><time>2020-06-01T10:00:01Z</time></trkpt>`), 4, "lat", []string{"point 2", "-122 is outside [-90, 90]", "exchange"}},
		{"same time", gpxOf(`<trkpt lat="45" lon="7"><time>2020-06-01T10:00:00Z</time></trkpt>`), 4, "time", []string{"point 2", "the time of the one before"}},
		{"earlier", gpxOf(`<trkpt lat="45" lon="7"><time>2020-06-01T09:00:00Z</time></trkpt>`), 4, "time", []string{"point 2", "comes before point 1", "wrong order"}},
		{"strange encoding", `<?xml version="1.0" encoding="utf-7"?><gpx/>`, 1, "", []string{"utf-7", "UTF-8"}},
		{"entity", `<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>`, 1, "", []string{"not well-formed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := textTracks(c.text, GPX, TrackOptions{})
			checkDataError(t, err, "test", c.line, 0, c.field, c.says...)
		})
	}
	broken := errors.New("the disk is gone")
	r, err := NewTracks(io.MultiReader(strings.NewReader(twoTracks[:300]), iotest.ErrReader(broken)), GPX, "test", TrackOptions{})
	if _, err = tracksOf(r, err); !errors.Is(err, broken) {
		t.Errorf("read error: %v", err)
	}
}

// fuzzTracks reads a file to its end under several options: no panic, and
// what is accepted keeps its promises.
func fuzzTracks(t *testing.T, data []byte, format Format) {
	for _, o := range []TrackOptions{
		{},
		{MaxSpeed: 30, Outside: Drop, Milliseconds: true},
		{Box: &Box{South: 37, West: -123, North: 46, East: 8}, MaxSpeed: 100, Outside: Clip},
	} {
		r, err := NewTracks(strings.NewReader(string(data)), format, "test", o)
		if err != nil {
			checkFault(t, err)
			continue
		}
		for r.Next() {
			checkTrack(t, r.Track())
		}
		if r.Err() != nil {
			checkFault(t, r.Err())
		}
		if r.Next() {
			t.Error("a track behind the last")
		}
	}
}

func checkFault(t *testing.T, err error) {
	t.Helper()
	var data *DataError
	var ungrouped *UngroupedError
	switch {
	case errors.As(err, &data):
		if data.Fix == "" || data.Msg == "" {
			t.Errorf("%v does not say what to do", err)
		}
	case errors.As(err, &ungrouped):
	case strings.Contains(err.Error(), "this is a signal"):
	default:
		t.Errorf("%T: %v", err, err)
	}
}

func checkTrack(t *testing.T, track *Track) {
	t.Helper()
	if len(track.Curve) == 0 || len(track.Curve) != len(track.Components) {
		t.Fatalf("%d series, %d components", len(track.Curve), len(track.Components))
	}
	for k, s := range track.Curve {
		if len(s.T) != len(s.X) || len(s.T) < 2 || !increasing(s.T) {
			t.Fatalf("series %d: %d times, %d values, increasing %v", k, len(s.T), len(s.X), increasing(s.T))
		}
		for _, x := range s.X {
			if x-x != 0 || track.Geographic && (x < -90-90*float64(k) || x > 90+90*float64(k)) {
				t.Fatalf("series %d has the value %g", k, x)
			}
		}
	}
	_ = track.where(0, 0)
}

// seed returns the head of a real file, if it is there.
func seed(f *testing.F, name string, size int) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", filepath.FromSlash(name)))
	if err != nil {
		return nil
	}
	return data[:min(size, len(data))]
}

func FuzzGPX(f *testing.F) {
	f.Add([]byte(twoTracks))
	f.Add([]byte(gpxOf(`<trkpt lat="45" lon="7"><time>2020-06-01T10:00:01Z</time></trkpt>`)))
	f.Add(seed(f, "taxi/cab_038.gpx", 1000))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzTracks(t, data, GPX) })
}

func FuzzTrackCSV(f *testing.F) {
	f.Add([]byte(secondsTrack))
	f.Add([]byte("id,time,lon,lat\na,2020-01-01T00:00:00Z,7,45\na,2020-01-01T00:00:09Z,7,45\n"))
	f.Add([]byte("t,a,b\n1,2,\n3,4,5\n4,,5\n"))
	f.Add([]byte("id,1,2\na,3,4\n"))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzTracks(t, data, CSV) })
}
