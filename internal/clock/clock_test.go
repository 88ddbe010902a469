package clock

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{
		"1970-01-01T00:00:00Z":             0,
		"1970-01-01T00:00Z":                0,
		"1970-01-01t01:00:00+01:00":        0,
		"1970-01-01 01:00:00+01":           0,
		"1969-12-31T17:00:00-0700":         0,
		"1970-01-01T05:30:00.5+05:30":      0.5,
		"1970-01-01T00:00:00,125Z":         0.125,
		"2000-02-29T00:00:00Z":             951782400,
		"1970-01-01T00:00:00.000000000Z":   0,
		"2008-05-17T21:00:45.250000Z":      1211058045.25,
		"1960-01-01T00:00:00.5Z":           -315619199.5,
		"1970-01-01T00:00:00.99999999999Z": 0.99999999999,
	} {
		if got, err := Parse([]byte(text), nil); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"2008-05-17":                ErrNaive,
		"2008-05-17T21:00:45":       ErrNaive,
		"2001-02-29T00:00:00Z":      ErrCalendar,
		"2001-13-01T00:00:00Z":      ErrCalendar,
		"2001-01-00T00:00:00Z":      ErrCalendar,
		"2001-01-01T24:00:00Z":      ErrCalendar,
		"2001-01-01T00:60:00Z":      ErrCalendar,
		"2001-01-01T00:00:60Z":      ErrCalendar,
		"2001-1-01T00:00:00Z":       ErrNotTime,
		"2001-01-01T00:00:00.Z":     ErrNotTime,
		"2001-01-01T00:00:00+25:00": ErrNotTime,
		"2001-01-01T00:00:00+01:0":  ErrNotTime,
		"2001-01-01T00:00:00Zx":     ErrNotTime,
		"2001-01-01T0:00:00Z":       ErrNotTime,
		"20010101T000000Z":          ErrNotTime,
		"":                          ErrNotTime,
	} {
		if _, err := Parse([]byte(text), nil); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// A clock that is put back shows an hour twice, one that is put forward leaves
// one out: neither names an instant. Paris in 2021.
func TestParseInZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip("no time zone database")
	}
	for text, want := range map[string]float64{
		"2021-01-01T01:00:00":       1609459200,
		"2021-03-28T01:59:59":       1616893199,
		"2021-03-28T03:00:00":       1616893200,
		"2021-10-31T01:59:59":       1635638399,
		"2021-10-31T03:00:00":       1635645600,
		"2021-10-31T02:30:00+02:00": 1635640200,
	} {
		if got, err := Parse([]byte(text), zone); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{"2021-03-28T02:30:00": ErrNoSuch, "2021-10-31T02:30:00": ErrTwice} {
		if _, err := Parse([]byte(text), zone); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2008-05-17T21:00:45Z", "2008-05-17T23:01:45+02:00", "2008-05-17 21:00", "2008-05-17T21:00:45.000Z", "0000-00-00T", "9999-12-31T23:59:59.999999999-15:59"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse([]byte(text), nil)
		if err != nil {
			return
		}
		// What RFC 3339 has too must be the same instant.
		if want, err := time.Parse(time.RFC3339Nano, text); err == nil && want.Nanosecond() == 0 && got != float64(want.Unix()) {
			t.Errorf("%s: %v, want %v", text, got, want.Unix())
		}
	})
}

func TestShort(t *testing.T) {
	for unix, want := range map[float64]string{
		0: "1970-01-01", 86400: "1970-01-02", 1211058045: "2008-05-17T21:00:45Z", 0.25: "1970-01-01T00:00:00.25Z", -0.5: "1969-12-31T23:59:59.5Z",
		86399.9999999: "1970-01-02",
	} {
		if got := Short(unix); got != want {
			t.Errorf("%v: %s, want %s", unix, got, want)
		}
		back, err := Parse([]byte(want), time.UTC)
		if err != nil || math.Abs(back-unix) > 1e-6 {
			t.Errorf("%s: %v, %v", want, back, err)
		}
	}
}
