package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// GeoJSON (RFC 7946), token by token, one feature at a time. The format has no
// place for times; tools agree on an array of the line's length in the
// properties: coordTimes, times, or coordinateProperties.times.

type geoJSON struct {
	origin
	dec    *json.Decoder
	lines  *lineReader
	o      TrackOptions
	state  jsonState
	tracks int
	others int // features that are no line
}

type jsonState uint8

const (
	jsonStart jsonState = iota
	jsonFeatures
	jsonDone
)

// deepest is how far arrays may be nested where we look at them; the format's
// deepest are the coordinates of a MultiPolygon.
const deepest = 4

// geoFeature is one feature, or one bare geometry.
type geoFeature struct {
	geoPath
	outer    string // type of the feature, or of a bare geometry
	kind     string // type of the geometry inside a feature
	has      bool   // coordinates were there
	depth    int    // of the numbers among brackets: 1 a point, 2 a line, 3 lines
	hollow   int    // depth of brackets with nothing in them
	cuts     []int  // depth 3: where each line begins
	times    []float64
	timeCuts []int
	timed    string // name of the member with the times
}

func newGeoJSON(in io.Reader, name string, o TrackOptions) *geoJSON {
	lines := text(in)
	g := &geoJSON{origin: origin{file: name}, dec: json.NewDecoder(lines), lines: lines, o: o}
	g.dec.UseNumber()
	return g
}

func (g *geoJSON) line() int { return g.lines.line(g.dec.InputOffset()) }

func (g *geoJSON) fault(name, msg, fix string) *DataError {
	return g.at(g.line(), 0, name, fmt.Sprintf("track %d: %s", g.tracks+1, msg), fix)
}

func (g *geoJSON) token() (json.Token, error) {
	t, err := g.dec.Token()
	var bad *json.SyntaxError
	switch {
	case err == nil:
		return t, nil
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return nil, g.at(g.line(), 0, "", "the file ends in the middle", "was it cut off? Export it again")
	case errors.As(err, &bad):
		return nil, g.at(g.line(), 0, "", "this is not JSON: "+bad.Error(), "a missing number cannot be written as NaN; was the file cut off?")
	}
	return nil, fmt.Errorf("dataset: %s: after line %d: %w", g.file, g.line(), err)
}

func (g *geoJSON) next() (*Track, error) {
	if g.state == jsonStart {
		t, err := g.start()
		if t != nil || err != nil {
			return t, err
		}
	}
	for g.state == jsonFeatures {
		if !g.dec.More() {
			if err := g.finish(); err != nil {
				return nil, err
			}
			break
		}
		if err := g.expect('{', "a feature"); err != nil {
			return nil, err
		}
		f := &geoFeature{geoPath: geoPath{line: g.line()}}
		if err := g.members(func(key string) error { return g.member(f, key) }); err != nil {
			return nil, err
		}
		t, err := g.track(f)
		if t != nil || err != nil {
			return t, err
		}
	}
	if g.tracks == 0 {
		msg := "the file has no line"
		if g.others > 0 {
			msg = fmt.Sprintf("the file has no line, only %s without one", count(g.others, "feature"))
		}
		return nil, g.at(0, 0, "", msg, "a track is a LineString or MultiLineString with its times in properties.coordTimes")
	}
	return nil, nil
}

// start reads the outermost object: up to the array of features, or all of it
// where it is one feature or geometry.
func (g *geoJSON) start() (*Track, error) {
	if err := g.expect('{', "the file"); err != nil {
		return nil, err
	}
	f := &geoFeature{geoPath: geoPath{line: g.line()}}
	for g.dec.More() {
		key, err := g.key()
		if err != nil {
			return nil, err
		}
		if key == "features" {
			if f.has {
				return nil, g.fault("features", "the same object has features and a geometry", "make it a FeatureCollection or a Feature")
			}
			g.state = jsonFeatures
			return nil, g.expect('[', "features")
		}
		if err := g.member(f, key); err != nil {
			return nil, err
		}
	}
	if _, err := g.token(); err != nil {
		return nil, err
	}
	g.state = jsonDone
	if err := g.nothingElse(); err != nil {
		return nil, err
	}
	return g.track(f)
}

// finish reads what stands behind the features.
func (g *geoJSON) finish() error {
	g.state = jsonDone
	if _, err := g.token(); err != nil { // ]
		return err
	}
	err := g.members(func(key string) error {
		switch key {
		case "features", "geometry", "coordinates":
			return g.fault(key, "stands in the same object as features, or twice", "make it one FeatureCollection")
		}
		return g.skip()
	})
	if err != nil {
		return err
	}
	return g.nothingElse()
}

func (g *geoJSON) nothingElse() error {
	switch _, err := g.dec.Token(); {
	case err == io.EOF:
		return nil
	default:
		return g.at(g.line(), 0, "", "something stands behind the end of the object", "a file holds one FeatureCollection, Feature or geometry")
	}
}

func (g *geoJSON) expect(delim json.Delim, what string) error {
	t, err := g.token()
	if err != nil {
		return err
	}
	if t != delim {
		return g.at(g.line(), 0, "", fmt.Sprintf("%s begins with %s and not with %s", what, quote(fmt.Sprint(t)), delim), "is this GeoJSON?")
	}
	return nil
}

func (g *geoJSON) key() (string, error) {
	t, err := g.token()
	key, _ := t.(string)
	return key, err
}

// members calls read for each member of an open object, and closes it.
func (g *geoJSON) members(read func(key string) error) error {
	for g.dec.More() {
		key, err := g.key()
		if err != nil {
			return err
		}
		if err := read(key); err != nil {
			return err
		}
	}
	_, err := g.token()
	return err
}

// object calls read for each member of the value to come, which may be null.
func (g *geoJSON) object(name string, read func(key string) error) error {
	t, err := g.token()
	switch {
	case err != nil || t == nil:
		return err
	case t != json.Delim('{'):
		return g.fault(name, name+" is no object", "is this GeoJSON?")
	}
	return g.members(read)
}

func (g *geoJSON) skip() error { return g.rest(0) }

// rest reads up to where depth brackets are closed, but at least one token.
func (g *geoJSON) rest(depth int) error {
	for {
		t, err := g.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// word reads a value that should be text; what else it may be does not matter.
func (g *geoJSON) word(to *string) error {
	t, err := g.token()
	if s, ok := t.(string); ok {
		*to = s
	}
	if err == nil && (t == json.Delim('{') || t == json.Delim('[')) {
		return g.rest(1)
	}
	return err
}

// member reads a member of a feature, or of a bare geometry.
func (g *geoJSON) member(f *geoFeature, key string) error {
	switch key {
	case "type":
		return g.word(&f.outer)
	case "geometry":
		return g.object(key, func(key string) error { return g.geometry(f, key) })
	case "properties":
		return g.object(key, func(key string) error { return g.property(f, key) })
	}
	return g.geometry(f, key)
}

func (g *geoJSON) geometry(f *geoFeature, key string) error {
	switch key {
	case "type":
		return g.word(&f.kind)
	case "coordinates":
		return g.coordinates(f)
	case "geometries":
		return g.fault(key, "a GeometryCollection has no one line", "make each LineString a feature with its own times")
	case "coordTimes", "times":
		return g.readTimes(f, key)
	}
	return g.skip()
}

func (g *geoJSON) property(f *geoFeature, key string) error {
	switch key {
	case "coordTimes", "times":
		return g.readTimes(f, key)
	case "coordinateProperties":
		return g.object(key, func(inner string) error {
			if inner == "times" || inner == "coordTimes" {
				return g.readTimes(f, key+"."+inner)
			}
			return g.skip()
		})
	case "name":
		return g.word(&f.name)
	}
	return g.skip()
}

// track makes a track of a feature, nil of one without a line.
func (g *geoJSON) track(f *geoFeature) (*Track, error) {
	kind := f.kind
	if kind == "" {
		kind = f.outer
	}
	lines := kind == "MultiLineString"
	switch {
	case kind != "LineString" && !lines && (!f.has || kind != "Feature"):
		g.others++
		return nil, nil
	case !f.has:
		return nil, g.fault("coordinates", "the line has no coordinates", "fill them in, or take the feature out")
	case kind == "Feature":
		return nil, g.fault("type", "a geometry does not say its type", `give it "type": "LineString"`)
	case len(f.lat) > 0 && f.depth != 2 && !lines, len(f.lat) > 0 && f.depth != 3 && lines:
		return nil, g.fault("coordinates", fmt.Sprintf("the coordinates of a %s are nested wrongly", kind), "a LineString is [[lon, lat], …], a MultiLineString an array of such")
	case f.timed == "":
		return nil, g.fault("coordTimes", "the line has no times", "give the feature properties.coordTimes with one time for each point; was the line drawn and not recorded?")
	case len(f.times) != len(f.lat):
		return nil, g.fault(f.timed, fmt.Sprintf("%s for %s", count(len(f.times), "time"), count(len(f.lat), "point")), "give each point one time")
	case f.timeCuts != nil && !(lines && slices.Equal(f.timeCuts, f.cuts)):
		return nil, g.fault(f.timed, "the times are cut into lines elsewhere than the points", "nest the times as the coordinates, or not at all")
	}
	g.tracks++
	f.t = f.times
	return f.geoPath.track(g.origin, GeoJSON), nil
}

// coordinates reads arrays of positions, however nested; the type of the
// geometry may come behind them.
func (g *geoJSON) coordinates(f *geoFeature) error {
	if f.has {
		return g.fault("coordinates", "stand twice", "keep one")
	}
	t, err := g.token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return g.fault("coordinates", "are no array", "is this GeoJSON?")
	}
	f.has = true
	var x [2]float64
	n := 0 // numbers of the position so far
	for depth := 1; depth > 0; {
		t, err := g.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case json.Delim:
			if t == ']' {
				if depth == f.depth || n > 0 {
					if n < 2 {
						return g.fault("coordinates", fmt.Sprintf("point %d has %s", len(f.lat)+1, count(n, "number")), "a position is [lon, lat]")
					}
					f.lon, f.lat = append(f.lon, x[0]), append(f.lat, x[1])
					f.at = append(f.at, placeOf(g.line(), len(f.lat)))
					n = 0
				} else if f.depth == 0 {
					f.hollow = depth
				}
				depth--
				continue
			}
			if t != '[' || depth == deepest || depth == f.depth {
				return g.fault("coordinates", fmt.Sprintf("point %d: a bracket stands where a number should", len(f.lat)+1), "a position is [lon, lat]")
			}
			if depth == 1 && f.depth != 2 {
				f.cuts = append(f.cuts, len(f.lat))
			}
			depth++
		case json.Number:
			if f.depth == 0 {
				f.depth = depth
			}
			if depth != f.depth || depth == f.hollow {
				return g.fault("coordinates", fmt.Sprintf("point %d: numbers stand at two depths of brackets, or an earlier point is empty", len(f.lat)+1), "a position is [lon, lat]")
			}
			v, what := cell([]byte(t), '.')
			if what != cellNumber {
				return g.fault("coordinates", fmt.Sprintf("point %d has the number %s, which is not finite", len(f.lat)+1, quote(string(t))), "correct it, or take the point and its time out")
			}
			if n < 2 {
				x[n] = v
			}
			n++
		default:
			return g.fault("coordinates", fmt.Sprintf("point %d has %s, which is no number of degrees", len(f.lat)+1, quote(fmt.Sprint(t))), "correct it, or take the point and its time out")
		}
	}
	return nil
}

// readTimes reads an array of times, or of such arrays.
func (g *geoJSON) readTimes(f *geoFeature, name string) error {
	t, err := g.token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		if d, ok := t.(json.Delim); !ok || d != '{' {
			return nil // a property of the same name that is something else
		}
		return g.members(func(string) error { return g.skip() })
	}
	if f.timed != "" {
		return g.fault(name, fmt.Sprintf("there are times in %s already", f.timed), "keep one of the two")
	}
	f.timed = name
	clock := clock{zone: g.o.Zone}
	for depth := 1; depth > 0; {
		t, err := g.token()
		if err != nil {
			return err
		}
		cell := ""
		switch t := t.(type) {
		case json.Delim:
			switch {
			case t == ']':
				depth--
				continue
			case t == '[' && depth == 1 && (len(f.times) == 0) == (f.timeCuts == nil):
				f.timeCuts = append(f.timeCuts, len(f.times))
				depth++
				continue
			}
			return g.fault(name, "the times are nested wrongly", "write one array of times, or one for each line of a MultiLineString")
		case json.Number:
			cell = string(t)
		case string:
			cell = t
		case nil:
		default:
			cell = fmt.Sprint(t)
		}
		if depth == 1 && f.timeCuts != nil {
			return g.fault(name, "the times are nested wrongly", "write one array of times, or one for each line of a MultiLineString")
		}
		v, msg, fix := clock.read([]byte(cell), '.')
		if msg != "" {
			return g.fault(name, fmt.Sprintf("the time of point %d: %s", len(f.times)+1, msg), fix)
		}
		if clock.state == clockNumber {
			if g.o.Milliseconds {
				v /= 1000
			} else if v >= 1e11 {
				return g.fault(name, fmt.Sprintf("the time of point %d, %s, would be after the year 5000 if it were seconds", len(f.times)+1, cell), "set the milliseconds option")
			}
		}
		f.times = append(f.times, v)
	}
	return nil
}
