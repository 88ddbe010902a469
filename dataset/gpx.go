package dataset

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/curveil/curveil/fit"
)

// GPX 1.0 and 1.1 (topografix.com/GPX/1/1/gpx.xsd), token by token. Only what
// stands at gpx/trk/trkseg/trkpt is a point and only its own time child is its
// time; extensions may hold anything.

type gpx struct {
	origin
	dec    *xml.Decoder
	clock  clock
	path   []string // names of the open elements
	track  *geoPath // being read
	text   []byte   // of the element being collected …
	take   bool     // … if one is
	tracks int
	others int // way points and routes seen
	lat    []byte
	lon    []byte
	timed  bool
}

// geoPath is a track on the ground as it is read.
type geoPath struct {
	name        string
	line        int
	t, lat, lon []float64
	at          []place
}

func (g *geoPath) track(org origin, format Format) *Track {
	return &Track{
		Name: g.name, File: org.file, Line: g.line, Format: format, Geographic: true,
		Components: []Component{{"lat", "degrees"}, {"lon", "degrees"}},
		Curve:      fit.Curve{{T: g.t, X: g.lat}, {T: g.t, X: g.lon}},
		Time:       "time", ISO: true,
		origin: org, places: [][]place{g.at, g.at},
	}
}

func newGPX(in io.Reader, name string, o TrackOptions) *gpx {
	g := &gpx{origin: origin{file: name}, dec: xml.NewDecoder(text(in)), clock: clock{state: clockISO, zone: o.Zone}}
	g.dec.CharsetReader = latin1
	return g
}

// latin1 admits the encodings that old devices declare. Numbers and times are
// ASCII in all of them, and names are never written out.
func latin1(charset string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "iso8859-1", "latin1", "windows-1252", "iso-8859-15", "us-ascii", "ascii":
		return &latin1Reader{in: in}, nil
	}
	return nil, fmt.Errorf("the encoding %s is not read", quote(charset))
}

// latin1Reader turns each byte above 127 into the two of its code point.
type latin1Reader struct {
	in   io.Reader
	buf  [512]byte
	out  [1024]byte
	left []byte
}

func (l *latin1Reader) Read(p []byte) (int, error) {
	if len(l.left) == 0 {
		n, err := l.in.Read(l.buf[:])
		l.left = l.out[:0]
		for _, c := range l.buf[:n] {
			if c < 0x80 {
				l.left = append(l.left, c)
			} else {
				l.left = append(l.left, 0xc0|c>>6, 0x80|c&0x3f)
			}
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

func (g *gpx) line() int {
	line, _ := g.dec.InputPos()
	return line
}

func (g *gpx) fault(name, msg, fix string) *DataError { return g.at(g.line(), 0, name, msg, fix) }

// pointFault is a fault of the point being read.
func (g *gpx) pointFault(name, msg, fix string) *DataError {
	return g.fault(name, fmt.Sprintf("track %d: point %d %s", g.tracks, len(g.track.at), msg), fix)
}

func (g *gpx) next() (*Track, error) {
	for {
		token, err := g.dec.Token()
		if err == io.EOF {
			return nil, g.end()
		}
		if err != nil {
			return nil, g.syntax(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			g.path = append(g.path, token.Name.Local)
			if err := g.open(token); err != nil {
				return nil, err
			}
		case xml.CharData:
			if g.take {
				g.text = append(g.text, token...)
			}
		case xml.EndElement:
			t, err := g.shut()
			if t != nil || err != nil {
				return t, err
			}
			g.path = g.path[:len(g.path)-1]
		}
	}
}

func (g *gpx) end() error {
	switch {
	case g.tracks == 0 && g.others > 0:
		return g.at(0, 0, "", fmt.Sprintf("the file has no track, only %s of a route or way points, which have no course in time", count(g.others, "element")), "export the recorded track (trk)")
	case g.tracks == 0:
		return g.at(0, 0, "", "the file has no track", "a GPX file needs gpx/trk/trkseg/trkpt elements")
	}
	return nil
}

func (g *gpx) syntax(err error) error {
	var bad *xml.SyntaxError
	switch {
	case errors.As(err, &bad):
		return g.at(bad.Line, 0, "", "this is not well-formed XML: "+bad.Msg, "was the file cut off? Export it again")
	case strings.HasPrefix(err.Error(), "xml:"):
		return g.fault("", strings.TrimPrefix(err.Error(), "xml: "), "save the file as UTF-8")
	}
	return fmt.Errorf("dataset: %s: after line %d: %w", g.file, g.line(), err)
}

// is reports whether the open elements are the ones named.
func (g *gpx) is(names ...string) bool {
	if len(names) != len(g.path) {
		return false
	}
	for i, n := range names {
		if g.path[i] != n {
			return false
		}
	}
	return true
}

func (g *gpx) open(e xml.StartElement) error {
	g.take = false
	switch len(g.path) {
	case 1:
		if g.path[0] != "gpx" {
			return g.fault("", "the outermost element is "+quote(g.path[0]), "a GPX file has gpx there")
		}
	case 2:
		switch {
		case g.is("gpx", "trk"):
			g.tracks++
			g.track = &geoPath{line: g.line()}
		case g.is("gpx", "rte"), g.is("gpx", "wpt"):
			g.others++
		}
	case 3:
		g.collect(g.is("gpx", "trk", "name"))
	case 4:
		if g.is("gpx", "trk", "trkseg", "trkpt") {
			g.lat, g.lon, g.timed = nil, nil, false
			for _, a := range e.Attr {
				switch a.Name.Local {
				case "lat":
					g.lat = append([]byte{}, a.Value...)
				case "lon":
					g.lon = append([]byte{}, a.Value...)
				}
			}
			g.track.at = append(g.track.at, placeOf(g.line(), len(g.track.at)+1))
		}
	case 5:
		g.collect(g.is("gpx", "trk", "trkseg", "trkpt", "time"))
	}
	return nil
}

func (g *gpx) collect(yes bool) { g.take, g.text = yes, g.text[:0] }

// shut ends the innermost element; at the end of a trk it returns the track.
func (g *gpx) shut() (*Track, error) {
	taken := g.take
	g.take = false
	switch len(g.path) {
	case 2:
		if g.is("gpx", "trk") {
			t := g.track.track(g.origin, GPX)
			g.track, g.path = nil, g.path[:1]
			return t, nil
		}
	case 3:
		if taken {
			g.track.name = strings.TrimSpace(string(g.text))
		}
	case 4:
		if g.is("gpx", "trk", "trkseg", "trkpt") {
			return nil, g.point()
		}
	case 5:
		if !taken {
			break
		}
		if g.timed {
			return nil, g.pointFault("time", "has two times", "keep one")
		}
		t, msg, fix := g.clock.read([]byte(strings.TrimSpace(string(g.text))), '.')
		if msg != "" {
			return nil, g.pointFault("time", "has the time "+msg, fix)
		}
		g.timed = true
		g.track.t = append(g.track.t, t)
	}
	return nil, nil
}

// point ends a point; its time is already there.
func (g *gpx) point() error {
	p := g.track
	if !g.timed {
		return g.pointFault("time", "has no time", "a curve needs the time of each point; was the track drawn and not recorded?")
	}
	lat, err := g.degrees("lat", g.lat)
	if err != nil {
		return err
	}
	lon, err := g.degrees("lon", g.lon)
	if err != nil {
		return err
	}
	p.lat, p.lon = append(p.lat, lat), append(p.lon, lon)
	return nil
}

func (g *gpx) degrees(name string, f []byte) (float64, error) {
	x, what := cell(f, '.')
	if what == cellNumber {
		return x, nil
	}
	if len(f) == 0 {
		return 0, g.pointFault(name, "has no "+name, "fill it in, or take the point out")
	}
	return 0, g.pointFault(name, fmt.Sprintf("has %s=%s, which is no number of degrees", name, quote(string(f))), "correct it, or take the point out")
}
