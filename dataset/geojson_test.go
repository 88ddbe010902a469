package dataset

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestGeoJSON(t *testing.T) {
	const line = `"type":"LineString","coordinates":[[7,45,100],[7.5,-45],[-180,90]]`
	const iso = `["2020-06-01T10:00:00Z","2020-06-01T12:00:01.5+02:00","2020-06-01T10:00:02Z"]`
	const lines = `"coordinates":[[[7,45],[7.5,-45]],[],[[-180,90]]],"type":"MultiLineString"`
	for _, c := range []struct {
		name, text string
		o          TrackOptions
		tracks     int
	}{
		{"coordTimes", `{"type":"Feature","properties":{"coordTimes":` + iso + `},"geometry":{` + line + `}}`, TrackOptions{}, 1},
		{"geometry first", "\ufeff{\n\"geometry\":{" + line + `},"bbox":[1,[2]],"properties":{"a":{"b":[{}]},"times":` + iso + `},"type":"Feature"}`, TrackOptions{}, 1},
		{"coordinateProperties", `{"type":"Feature","properties":{"coordinateProperties":{"heart":[1],"times":` + iso + `}},"geometry":{` + line + `}}`, TrackOptions{}, 1},
		{"seconds", `{"type":"Feature","properties":{"times":[1591005600,1591005601.5,1591005602]},"geometry":{` + line + `}}`, TrackOptions{}, 1},
		{"milliseconds", `{"type":"Feature","properties":{"times":[1591005600000,1591005601500,1591005602000]},"geometry":{` + line + `}}`, TrackOptions{Milliseconds: true}, 1},
		{"bare geometry", `{` + line + `,"coordTimes":` + iso + `}`, TrackOptions{}, 1},
		{"several lines", `{"type":"Feature","properties":{"coordTimes":[["2020-06-01T10:00:00Z","2020-06-01T10:00:01.5Z"],[],["2020-06-01T10:00:02Z"]]},"geometry":{` + lines + `}}`, TrackOptions{}, 1},
		{"several lines, flat times", `{"type":"Feature","properties":{"coordTimes":` + iso + `},"geometry":{` + lines + `}}`, TrackOptions{}, 1},
		{"collection", `{"features":[{"type":"Feature","properties":null,"geometry":{"type":"Point","coordinates":[1,2]}},
			{"type":"Feature","properties":{"name":"x","times":"no","coordTimes":` + iso + `},"geometry":{` + line + `}},
			{"type":"Feature","properties":{},"geometry":null},
			{"type":"Feature","properties":{"name":{"x":[]},"coordTimes":` + iso + `},"geometry":{` + line + `}}],"crs":{"x":1},"type":"FeatureCollection"}`, TrackOptions{}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := NewTracks(iotest.OneByteReader(strings.NewReader(c.text)), GeoJSON, "test", c.o)
			all, err := tracksOf(r, err)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != c.tracks {
				t.Fatalf("%d tracks, want %d", len(all), c.tracks)
			}
			for i, track := range all {
				if track.Number != i+1 {
					t.Errorf("track %d has number %d", i+1, track.Number)
				}
				curve := track.Curve
				want := [][]float64{{1591005600, 1591005601.5, 1591005602}, {45, -45, 90}, {7, 7.5, -180}}
				if d := cmp.Diff(want, [][]float64{curve[0].T, curve[0].X, curve[1].X}); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

func featureOf(times, coordinates string) string {
	return `{"type":"Feature","properties":{"coordTimes":` + times + `},` + "\n" + `"geometry":{"type":"LineString","coordinates":` + coordinates + `}}`
}

func TestGeoJSONRefused(t *testing.T) {
	const two = `["2020-06-01T10:00:00Z","2020-06-01T10:00:01Z"]`
	for _, c := range []struct {
		name, text string
		line       int
		field      string
		says       []string
	}{
		{"empty", "", 1, "", []string{"ends in the middle"}},
		{"not JSON", "id,t\n", 1, "", []string{"not JSON"}},
		{"an array", "[]", 1, "", []string{"'[' and not with {"}},
		{"no line", `{"type":"FeatureCollection","features":[]}`, 0, "", []string{"no line"}},
		{"points only", `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}]}`, 0, "", []string{"only 1 feature without one"}},
		{"cut off", featureOf(two, "[[7,45],[7,46]]")[:120], 2, "", []string{"ends in the middle", "cut off"}},
		{"two objects", featureOf(two, "[[7,45],[7,46]]") + "{}", 2, "", []string{"behind the end"}},
		{"NaN", featureOf(two, "[[7,45],[NaN,46]]"), 2, "", []string{"not JSON", "NaN"}},
		{"null", featureOf(two, "[[7,45],[7,null]]"), 2, "coordinates", []string{"track 1: point 2 has"}},
		{"text", featureOf(two, `[[7,45],["7",46]]`), 2, "coordinates", []string{"point 2 has '7'"}},
		{"too large", featureOf(two, `[[7,45],[1e999,46]]`), 2, "coordinates", []string{"point 2", "not finite"}},
		{"one number", featureOf(two, `[[7,45],[7]]`), 2, "coordinates", []string{"point 2 has 1 number"}},
		{"no number", featureOf(two, `[[7,45],[]]`), 2, "coordinates", []string{"point 2 has 0 numbers"}},
		{"no number first", featureOf(two, `[[],[7,45],[7,46]]`), 2, "coordinates", []string{"an earlier point is empty"}},
		{"nested", featureOf(two, `[[7,45],[[7,46]]]`), 2, "coordinates", []string{"a bracket stands where"}},
		{"flat", featureOf(two, `[7,45]`), 2, "coordinates", []string{"nested wrongly"}},
		{"deep", featureOf(two, `[[[[[[7,45]]]]]]`), 2, "coordinates", []string{"bracket"}},
		{"no times", `{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[7,45],[7,46]]}}`, 1, "coordTimes", []string{"no times"}},
		{"fewer times", featureOf(`["2020-06-01T10:00:00Z"]`, "[[7,45],[7,46]]"), 2, "coordTimes", []string{"1 time for 2 points"}},
		{"a time missing", featureOf(`["2020-06-01T10:00:00Z",null]`, "[[7,45],[7,46]]"), 1, "coordTimes", []string{"the time of point 2", "no time"}},
		{"no zone", featureOf(`["2020-06-01T10:00:00Z","2020-06-01T10:00:01"]`, "[[7,45],[7,46]]"), 1, "coordTimes", []string{"point 2", "without a zone"}},
		{"milliseconds", featureOf(`[1591005600000,1591005601500]`, "[[7,45],[7,46]]"), 1, "coordTimes", []string{"point 1", "milliseconds option"}},
		{"times nested in a line", featureOf(`[["2020-06-01T10:00:00Z"],["2020-06-01T10:00:01Z"]]`, "[[7,45],[7,46]]"), 2, "coordTimes", []string{"cut into lines elsewhere"}},
		{"times cut elsewhere", `{"type":"MultiLineString","coordinates":[[[7,45],[7,46]],[[7,47]]],"times":[[1],[2,3]]}`, 1, "times", []string{"cut into lines elsewhere"}},
		{"times half nested", featureOf(`[["2020-06-01T10:00:00Z"],"2020-06-01T10:00:01Z"]`, "[[7,45],[7,46]]"), 1, "coordTimes", []string{"nested wrongly"}},
		{"times twice", `{"coordTimes":[],"times":[]}`, 1, "times", []string{"there are times in coordTimes already"}},
		{"coordinates twice", `{"type":"LineString","coordinates":[[7,45]],"coordinates":[]}`, 1, "coordinates", []string{"stand twice"}},
		{"collection of geometries", `{"type":"GeometryCollection","geometries":[]}`, 1, "geometries", []string{"GeometryCollection"}},
		{"no type", `{"type":"Feature","properties":{"coordTimes":` + two + `},"geometry":{"coordinates":[[7,45],[7,46]]}}`, 1, "type", []string{"does not say its type"}},
		{"swapped", featureOf(two, "[[37,-122],[37,-122.1]]"), 2, "lat", []string{"point 1", "-122 is outside [-90, 90]"}},
		{"unwrapped", featureOf(two, "[[179,45],[181,45]]"), 2, "lon", []string{"point 2", "181 is outside [-180, 180]", "360"}},
		{"decreasing", featureOf(`["2020-06-01T10:00:01Z","2020-06-01T10:00:00Z"]`, "[[7,45],[7,46]]"), 2, "time", []string{"point 2", "comes before point 1"}},
		{"same time", featureOf(`["2020-06-01T10:00:00Z","2020-06-01T10:00:00Z"]`, "[[7,45],[7,46]]"), 2, "time", []string{"point 2", "the time of the one before"}},
		{"one point", featureOf(`["2020-06-01T10:00:00Z"]`, "[[7,45]]"), 1, "", []string{"1 point only"}},
		{"features and a geometry", `{"type":"Feature","geometry":{"type":"LineString","coordinates":[]},"features":[]}`, 1, "features", []string{"features and a geometry"}},
		{"features twice", `{"features":[],"features":[]}`, 1, "features", []string{"or twice"}},
		{"no object", `{"features":[1]}`, 1, "", []string{"a feature begins with '1'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := textTracks(c.text, GeoJSON, TrackOptions{})
			checkDataError(t, err, "test", c.line, 0, c.field, c.says...)
		})
	}
}

func FuzzGeoJSON(f *testing.F) {
	f.Add([]byte(featureOf(`["2020-06-01T10:00:00Z","2020-06-01T10:00:01Z"]`, "[[7,45],[7,45.0001]]")))
	f.Add([]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"times":[1,2,3]},"geometry":{"type":"MultiLineString","coordinates":[[[7,45],[7,45]],[[8,45]]]}}],"x":[{}]}`))
	f.Add([]byte(`{"coordinates":[[7,45],[8,46]],"times":[1591005600000,1591005690000],"type":"LineString"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzTracks(t, data, GeoJSON)
		if all, err := textTracks(string(data), GeoJSON, TrackOptions{}); err == nil && len(all) > 0 && !json.Valid([]byte(strings.TrimPrefix(string(data), "\ufeff"))) {
			t.Error("accepted, and not JSON")
		}
	})
}
