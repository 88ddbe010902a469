package dataset

import (
	"fmt"
	"math"
)

// Degrees on WGS 84 to metres about a public origin: the orthographic
// projection of the ellipsoid onto the plane that touches it there (EPSG
// method 9840; the east and north of a local east-north-up frame).
//
// It is chosen for what it does to a guarantee. Dropping the vertical never
// lengthens a distance, so two tracks are at least as far apart on the ground
// as in the plane, and ε per metre of the plane is ε per metre of the ground at
// most, exactly. Poles and antimeridian are points as any other.

// WGS 84.
const (
	wgs84A  = 6378137.0
	wgs84F  = 1 / 298.257223563
	wgs84E2 = wgs84F * (2 - wgs84F)
	wgs84B  = wgs84A * (1 - wgs84F)
)

const (
	// projectionReach is the farthest that Forward goes, as a chord, in metres.
	projectionReach = 1_000_000
	// projectionEdge is inside the earth's outline seen from any origin, the
	// narrowest half of which is wgs84B.
	projectionEdge = 6_300_000
)

// Projection maps degrees to metres about an origin. A distance d on the
// ground, r from the origin, comes out shorter by at most the share r²/(2R²),
// R = 6371 km: 1.2·10⁻⁴ within 100 km, 10⁻³ within 280 km, 1.2·10⁻² at the reach
// of 1000 km.
type Projection struct {
	Lat, Lon float64 // the origin, in degrees

	centre, east, north, up [3]float64
}

// NewProjection makes the projection about a public origin in degrees. It must
// not be computed from the track.
func NewProjection(lat, lon float64) (*Projection, error) {
	if !(lat >= -90 && lat <= 90) {
		return nil, fmt.Errorf("dataset: latitude %g of the origin: must be in [-90, 90]; the order is latitude, longitude", lat)
	}
	if !(lon >= -180 && lon <= 180) {
		return nil, fmt.Errorf("dataset: longitude %g of the origin: must be in [-180, 180]", lon)
	}
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
	return &Projection{
		Lat: lat, Lon: lon,
		centre: geocentric(lat, lon),
		east:   [3]float64{-sinLon, cosLon, 0},
		north:  [3]float64{-sinLat * cosLon, -sinLat * sinLon, cosLat},
		up:     [3]float64{cosLat * cosLon, cosLat * sinLon, sinLat},
	}, nil
}

// Forward returns metres east and north of the origin. It fails for what is no
// latitude or longitude and farther than 1000 km.
func (p *Projection) Forward(lat, lon float64) (east, north float64, err error) {
	if !(lat >= -90 && lat <= 90) || !(lon >= -180 && lon <= 180) {
		return 0, 0, fmt.Errorf("latitude %g, longitude %g is no place in [-90, 90] × [-180, 180]", lat, lon)
	}
	d := minus(geocentric(lat, lon), p.centre)
	if r := math.Sqrt(dot(d, d)); r > projectionReach {
		return 0, 0, fmt.Errorf("it is %.0f km from the origin (%g, %g), and the projection reaches %d km", r/1000, p.Lat, p.Lon, projectionReach/1000)
	}
	return dot(p.east, d), dot(p.north, d), nil
}

// Inverse returns the place of a point of the plane. It takes private values:
// what noise has carried beyond 6300 km from the origin, where the plane ends,
// is first pulled back to there.
func (p *Projection) Inverse(east, north float64) (lat, lon float64) {
	if r := math.Hypot(east, north); r > projectionEdge {
		if math.IsInf(r, 0) {
			east, north = east/math.MaxFloat64, north/math.MaxFloat64
			r = math.Hypot(east, north)
		}
		east, north = east*(projectionEdge/r), north*(projectionEdge/r)
	}
	q := p.centre
	for i := range q {
		q[i] += east*p.east[i] + north*p.north[i]
	}
	// The height w over the plane at which the vertical meets the ellipsoid:
	// |q+w·up|² = 1 after scaling the axes to one, by the root that does not cancel.
	scale := [3]float64{1 / wgs84A, 1 / wgs84A, 1 / wgs84B}
	var s, u [3]float64
	for i := range q {
		s[i], u[i] = q[i]*scale[i], p.up[i]*scale[i]
	}
	a, b, c := dot(u, u), dot(s, u), dot(s, s)-1
	w := -c / (b + math.Sqrt(max(b*b-a*c, 0)))
	for i := range q {
		q[i] += w * p.up[i]
	}
	lat = math.Atan2(q[2], (1-wgs84E2)*math.Hypot(q[0], q[1])) * 180 / math.Pi
	lon = math.Atan2(q[1], q[0]) * 180 / math.Pi
	return lat, lon
}

// Degrees is Inverse for curves: metres in, degrees out.
func (p *Projection) Degrees(east, north []float64) (lat, lon []float64) {
	if len(east) != len(north) {
		panic(fmt.Sprintf("dataset: Degrees of %d and %d values", len(east), len(north)))
	}
	lat, lon = make([]float64, len(east)), make([]float64, len(east))
	for i := range east {
		lat[i], lon[i] = p.Inverse(east[i], north[i])
	}
	return lat, lon
}

// geocentric returns earth-centred metres of a place on the ellipsoid.
func geocentric(lat, lon float64) [3]float64 {
	sinLat, cosLat := math.Sincos(lat * math.Pi / 180)
	sinLon, cosLon := math.Sincos(lon * math.Pi / 180)
	n := wgs84A / math.Sqrt(1-wgs84E2*sinLat*sinLat)
	return [3]float64{n * cosLat * cosLon, n * cosLat * sinLon, n * (1 - wgs84E2) * sinLat}
}

// chord is the straight distance in metres between two places. It obeys the
// triangle inequality and is shorter than the way on the ground by d³/(24R²):
// a metre in 100 km.
func chord(lat1, lon1, lat2, lon2 float64) float64 {
	d := minus(geocentric(lat1, lon1), geocentric(lat2, lon2))
	return math.Sqrt(dot(d, d))
}

func minus(a, b [3]float64) [3]float64 {
	return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]}
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// turn returns the angle from one longitude to another, in [-180, 180).
func turn(from, to float64) float64 {
	d := math.Mod(to-from, 360)
	switch {
	case d < -180:
		d += 360
	case d >= 180:
		d -= 360
	}
	return d
}

// along returns the place the share f of the way between two, straight in
// degrees and across the antimeridian where that is nearer.
func along(lat1, lon1, lat2, lon2, f float64) (lat, lon float64) {
	lon = lon1 + f*turn(lon1, lon2)
	switch {
	case lon > 180:
		lon -= 360
	case lon < -180:
		lon += 360
	}
	return lat1 + f*(lat2-lat1), lon
}
