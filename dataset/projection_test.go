package dataset

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func projection(t testing.TB, lat, lon float64) *Projection {
	p, err := NewProjection(lat, lon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The worked example of EPSG guidance note 7-2, method 9840 (orthographic,
// ellipsoidal).
func TestProjectionReference(t *testing.T) {
	lat, lon := 53+(48+33.82/60)/60, 2+(7+46.38/60)/60
	p := projection(t, 55, 5)
	east, north, err := p.Forward(lat, lon)
	if err != nil || math.Abs(east - -189011.711) > 1e-3 || math.Abs(north - -128640.567) > 1e-3 {
		t.Errorf("%.4f, %.4f, %v; want -189011.711, -128640.567", east, north, err)
	}
	if gotLat, gotLon := p.Inverse(-189011.711, -128640.567); math.Abs(gotLat-lat) > 1e-8 || math.Abs(gotLon-lon) > 1e-8 {
		t.Errorf("inverse %.9f, %.9f; want %.9f, %.9f", gotLat, gotLon, lat, lon)
	}
}

// vincenty is the length of the geodesic (T. Vincenty, Survey Review 23, 1975),
// for places that are not nearly opposite.
func vincenty(lat1, lon1, lat2, lon2 float64) float64 {
	rad := math.Pi / 180
	l := turn(lon1, lon2) * rad
	sinU1, cosU1 := math.Sincos(math.Atan((1 - wgs84F) * math.Tan(lat1*rad)))
	sinU2, cosU2 := math.Sincos(math.Atan((1 - wgs84F) * math.Tan(lat2*rad)))
	lambda := l
	for range 200 {
		s, c := math.Sincos(lambda)
		sinSigma := math.Hypot(cosU2*s, cosU1*sinU2-sinU1*cosU2*c)
		if sinSigma == 0 {
			return 0
		}
		cosSigma := sinU1*sinU2 + cosU1*cosU2*c
		sigma := math.Atan2(sinSigma, cosSigma)
		sinAlpha := cosU1 * cosU2 * s / sinSigma
		cos2 := 1 - sinAlpha*sinAlpha
		mid := 0.0
		if cos2 > 0 {
			mid = cosSigma - 2*sinU1*sinU2/cos2
		}
		cc := wgs84F / 16 * cos2 * (4 + wgs84F*(4-3*cos2))
		next := l + (1-cc)*wgs84F*sinAlpha*(sigma+cc*sinSigma*(mid+cc*cosSigma*(2*mid*mid-1)))
		if math.Abs(next-lambda) < 1e-13 {
			u2 := cos2 * (wgs84A*wgs84A - wgs84B*wgs84B) / (wgs84B * wgs84B)
			a := 1 + u2/16384*(4096+u2*(-768+u2*(320-175*u2)))
			b := u2 / 1024 * (256 + u2*(-128+u2*(74-47*u2)))
			d := b * sinSigma * (mid + b/4*(cosSigma*(2*mid*mid-1)-b/6*mid*(4*sinSigma*sinSigma-3)*(4*mid*mid-3)))
			return wgs84B * a * (sigma - d)
		}
		lambda = next
	}
	return math.NaN()
}

// Flinders Peak to Buninyong, 54972.271 m (Geoscience Australia, on GRS 80,
// whose flattening differs in the tenth digit).
func TestVincenty(t *testing.T) {
	dms := func(d, m, s float64) float64 { return d + m/60 + s/3600 }
	got := vincenty(-dms(37, 57, 3.7203), dms(144, 25, 29.5244), -dms(37, 39, 10.1561), dms(143, 55, 35.3839))
	if math.Abs(got-54972.271) > 1e-3 {
		t.Errorf("%.4f m, want 54972.271", got)
	}
}

// Distances: never longer than on the ground, and shorter by r²/(2R²) at most,
// at every latitude, across the antimeridian and around the poles.
func TestProjectionDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat0 := rapid.OneOf(rapid.Just(90.0), rapid.Just(-90.0), rapid.Float64Range(-90, 90)).Draw(t, "lat0")
		lon0 := rapid.OneOf(rapid.Just(180.0), rapid.Float64Range(-180, 180)).Draw(t, "lon0")
		p, err := NewProjection(lat0, lon0)
		if err != nil {
			t.Fatal(err)
		}
		r := rapid.Float64Range(1, 900_000).Draw(t, "r")
		a, b := rapid.Float64Range(0, 2*math.Pi).Draw(t, "a"), rapid.Float64Range(0, 2*math.Pi).Draw(t, "b")
		x := [2]float64{r * math.Cos(a), r * math.Sin(a)}
		y := [2]float64{x[0] + r/10*math.Cos(b), x[1] + r/10*math.Sin(b)}
		lat1, lon1 := p.Inverse(x[0], x[1])
		lat2, lon2 := p.Inverse(y[0], y[1])
		east, north, err := p.Forward(lat1, lon1)
		if err != nil {
			t.Fatal(err)
		}
		if math.Hypot(east-x[0], north-x[1]) > 1e-6 {
			t.Errorf("(%g, %g) comes back as (%g, %g)", x[0], x[1], east, north)
		}
		ground, plane := vincenty(lat1, lon1, lat2, lon2), r/10
		if math.IsNaN(ground) {
			t.Skip("no geodesic")
		}
		const earth = 6.35e6 // the smaller radii of curvature included
		if far := 1.1 * r / earth; plane > ground+1e-3 || plane < ground*(1-far*far/2*1.02)-1e-3 {
			t.Errorf("origin %g, %g, %.0f m away: %.4f m in the plane, %.4f m on the ground", lat0, lon0, r, plane, ground)
		}
	})
}

func TestProjectionWithin100km(t *testing.T) {
	worst := 0.0
	for lat0 := -90.0; lat0 <= 90; lat0 += 15 {
		p := projection(t, lat0, 180)
		for k := range 64 {
			s, c := math.Sincos(float64(k) * math.Pi / 32)
			lat1, lon1 := p.Inverse(99_000*c, 99_000*s)
			lat2, lon2 := p.Inverse(100_000*c, 100_000*s)
			worst = max(worst, 1-1000/vincenty(lat1, lon1, lat2, lon2))
		}
	}
	if worst > 1.25e-4 || worst < 1e-4 {
		t.Errorf("a kilometre 100 km out is short by %.3g, want 1.2e-4", worst)
	}
}

func TestProjectionRefuses(t *testing.T) {
	for _, c := range [][2]float64{{91, 0}, {math.NaN(), 0}, {0, 181}, {0, math.Inf(-1)}} {
		if _, err := NewProjection(c[0], c[1]); err == nil {
			t.Errorf("origin %v accepted", c)
		}
	}
	p := projection(t, 37.7749, -122.4194)
	for _, c := range [][2]float64{{51.5, 0}, {-37.7, 57.6}, {math.NaN(), 0}, {0, 200}} {
		if _, _, err := p.Forward(c[0], c[1]); err == nil {
			t.Errorf("place %v accepted", c)
		}
	}
}

// Noise may carry a point anywhere; it still comes down on the earth.
func TestInverseOfAnything(t *testing.T) {
	for _, lat0 := range []float64{-90, -45, 0, 37.7, 90} {
		p := projection(t, lat0, 179.9)
		for _, r := range []float64{0, 1, 1e6, 6.299e6, 6.35e6, 6.38e6, 1e9, 1e300, math.MaxFloat64, math.Inf(1)} {
			for k := range 8 {
				s, c := math.Sincos(float64(k) * math.Pi / 4)
				lat, lon := p.Inverse(r*c, r*s)
				if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) && !math.IsInf(r, 0) {
					t.Errorf("origin latitude %g: (%g, %g) comes down at %g, %g", lat0, r*c, r*s, lat, lon)
				}
			}
		}
	}
}
