// Package clock reads and writes the times of an axis that counts seconds since
// 1970: ISO 8601 on the outside, Unix seconds within. A time stamp without an
// offset names no instant: it is refused unless the user says in which zone it
// was taken.
package clock

import (
	"errors"
	"math"
	"strings"
	"time"
)

// What a text is when it is no instant.
var (
	ErrNotTime  = errors.New("is neither a number nor an ISO 8601 time")
	ErrNaive    = errors.New("is a time without a zone, which names no instant")
	ErrNoSuch   = errors.New("does not exist in the zone given (the clock was put forward)")
	ErrTwice    = errors.New("happened twice in the zone given (the clock was put back)")
	ErrCalendar = errors.New("is no date and time of the calendar")
)

// Parse reads YYYY-MM-DD[(T| )hh:mm[:ss[(.|,)fraction]]][Z|±hh[[:]mm]] as
// Unix seconds. A fraction keeps what float64 can hold (about a microsecond
// in this century). zone is for stamps without an offset; nil refuses them.
func Parse(f []byte, zone *time.Location) (float64, error) {
	s := string(f)
	pos := 0
	digits := func(n int) (v int, ok bool) {
		if pos+n > len(s) {
			return 0, false
		}
		for _, c := range []byte(s[pos : pos+n]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			v = v*10 + int(c-'0')
		}
		pos += n
		return v, true
	}
	mark := func(set string) bool {
		for _, c := range []byte(set) {
			if pos < len(s) && s[pos] == c {
				pos++
				return true
			}
		}
		return false
	}
	year, ok1 := digits(4)
	ok2 := mark("-")
	month, ok3 := digits(2)
	ok4 := mark("-")
	day, ok5 := digits(2)
	if !(ok1 && ok2 && ok3 && ok4 && ok5) {
		return 0, ErrNotTime
	}
	var hour, minute, second int
	var fraction float64
	if mark("Tt ") {
		var ok bool
		if hour, ok = digits(2); !ok || !mark(":") {
			return 0, ErrNotTime
		}
		if minute, ok = digits(2); !ok {
			return 0, ErrNotTime
		}
		if mark(":") {
			if second, ok = digits(2); !ok {
				return 0, ErrNotTime
			}
			if mark(".,") {
				var m, scale float64 = 0, 1
				start := pos
				for ; pos < len(s) && s[pos] >= '0' && s[pos] <= '9'; pos++ {
					if pos-start < 15 {
						m, scale = m*10+float64(s[pos]-'0'), scale*10
					}
				}
				if pos == start {
					return 0, ErrNotTime
				}
				fraction = m / scale
			}
		}
	}
	offset, naive := 0, true
	switch {
	case mark("Zz"):
		naive = false
	case pos < len(s) && (s[pos] == '+' || s[pos] == '-'):
		sign := 1
		if s[pos] == '-' {
			sign = -1
		}
		pos++
		h, ok := digits(2)
		m := 0
		if ok && pos < len(s) {
			mark(":")
			m, ok = digits(2)
		}
		if !ok || h > 15 || m > 59 {
			return 0, ErrNotTime
		}
		offset, naive = sign*(h*3600+m*60), false
	}
	if pos != len(s) {
		return 0, ErrNotTime
	}
	wall := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if int(wall.Month()) != month || wall.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return 0, ErrCalendar
	}
	unix := wall.Unix() - int64(offset)
	if naive {
		if zone == nil {
			return 0, ErrNaive
		}
		var err error
		if unix, err = InZone(wall.Unix(), zone); err != nil {
			return 0, err
		}
	}
	return float64(unix) + fraction, nil
}

// InZone finds the one instant at which the clocks of the zone show the wall
// time (given as if it were UTC).
func InZone(wall int64, zone *time.Location) (int64, error) {
	const day = 24 * 3600
	offsetAt := func(unix int64) int64 {
		_, offset := time.Unix(unix, 0).In(zone).Zone()
		return int64(offset)
	}
	before, after := offsetAt(wall-day), offsetAt(wall+day)
	early, late := wall-before, wall-after
	fitsEarly, fitsLate := offsetAt(early) == before, offsetAt(late) == after
	switch {
	case fitsEarly && fitsLate && early != late:
		return 0, ErrTwice
	case fitsEarly:
		return early, nil
	case fitsLate:
		return late, nil
	}
	return 0, ErrNoSuch
}

// Text writes Unix seconds as UTC, to the microsecond.
func Text(unix float64) string {
	whole := math.Floor(unix)
	micro := math.Round((unix - whole) * 1e6)
	return time.Unix(int64(whole), int64(micro)*1000).UTC().Format("2006-01-02T15:04:05.999999Z")
}

// Short is Text without the time of day where that is midnight.
func Short(unix float64) string {
	text := Text(unix)
	date, _ := strings.CutSuffix(text, "T00:00:00Z")
	return date
}

// Stamp is the time as the clocks of a zone show it, with the offset, to the microsecond; Text
// where zone is nil.
func Stamp(unix float64, zone *time.Location) string {
	if zone == nil {
		return Text(unix)
	}
	whole := math.Floor(unix)
	micro := math.Round((unix - whole) * 1e6)
	return time.Unix(int64(whole), int64(micro)*1000).In(zone).Format("2006-01-02T15:04:05.999999Z07:00")
}

// In is Stamp without the time of day where that is midnight.
func In(unix float64, zone *time.Location) string {
	text := Stamp(unix, zone)
	if date, rest, _ := strings.Cut(text, "T"); strings.HasPrefix(rest, "00:00:00") && !strings.Contains(rest, ".") {
		return date
	}
	return text
}
