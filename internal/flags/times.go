package flags

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/curveil/curveil/internal/clock"
	"github.com/curveil/curveil/space"
)

// Times on the command line: numbers, or dates, which count seconds since 1970
// inside. A colon stands in times of day, so that a slash parts dates, as in ISO
// 8601.

const dateFix = "write a date such as 2024-02-29 or 2024-02-29T13:30Z"

// TimeDomain reads a:b in numbers or FROM/TO in dates, which are dated. A date
// without an offset is one of the zone, and refused where that is nil, as it is in a file.
func TimeDomain(flag, text string, zone *time.Location) (d space.Interval, dated bool, err error) {
	from, to, dated := strings.Cut(text, "/")
	if !dated {
		a, b, ok := strings.Cut(text, ":")
		if !ok || !isDate(a) || !isDate(b) {
			d, err = Domain(flag, text)
			return d, false, err
		}
		from, to = a, b
	}
	if d.A, err = instant(flag, from, zone); err != nil {
		return d, true, err
	}
	if d.B, err = instant(flag, to, zone); err != nil {
		return d, true, err
	}
	if !(d.A < d.B) {
		return d, true, Usagef("%s %q: the second date must come after the first", flag, text)
	}
	return d, true, nil
}

// TimeGrid reads a:b:count or a list of numbers, and where dated also FROM/TO/count
// or a list of dates.
func TimeGrid(flag, text string, zone *time.Location, dated bool) ([]float64, error) {
	if !dated {
		return Grid(flag, text)
	}
	if parts := strings.Split(text, "/"); len(parts) == 3 {
		d, _, err := TimeDomain(flag, parts[0]+"/"+parts[1], zone)
		if err != nil {
			return nil, err
		}
		return uniform(flag, text, d, parts[2])
	}
	if first := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ':' }); len(first) > 0 && isNumber(first[0]) {
		return Grid(flag, text)
	}
	var out []float64
	for _, one := range strings.Split(text, ",") {
		t, err := instant(flag, one, zone)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func instant(flag, text string, zone *time.Location) (float64, error) {
	text = strings.TrimSpace(text)
	t, err := clock.Parse([]byte(text), zone)
	switch {
	case errors.Is(err, clock.ErrNaive):
		return 0, Usagef("%s: %q %w: write %sZ for UTC, or an offset such as %s+02:00, or give --zone", flag, text, err, text, text)
	case errors.Is(err, clock.ErrTwice), errors.Is(err, clock.ErrNoSuch):
		return 0, Usagef("%s: %q %w: write an offset, such as %s+02:00", flag, text, err, text)
	case err != nil:
		return 0, Usagef("%s: %q %w: %s", flag, text, err, dateFix)
	}
	return t, nil
}

func isDate(text string) bool {
	_, err := clock.Parse([]byte(strings.TrimSpace(text)), time.UTC)
	return err == nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil
}

// Zone reads --zone; nil for none.
func Zone(text string) (*time.Location, error) {
	if text == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(text)
	if err != nil || text == "Local" {
		return nil, Usagef("--zone %q is no time zone: write UTC or a name such as Europe/Berlin", text)
	}
	return zone, nil
}
