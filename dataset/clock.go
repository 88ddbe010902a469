package dataset

import (
	"errors"
	"time"
)

// ISO 8601 times become Unix seconds. A time stamp without an offset names no
// instant: it is refused unless the user says in which zone it was taken.

var (
	errNotTime  = errors.New("is neither a number nor an ISO 8601 time")
	errNaive    = errors.New("is a time without a zone, which names no instant")
	errNoSuch   = errors.New("does not exist in the zone given (the clock was put forward)")
	errTwice    = errors.New("happened twice in the zone given (the clock was put back)")
	errCalendar = errors.New("is no date and time of the calendar")
)

// isoTime reads YYYY-MM-DD[(T| )hh:mm[:ss[(.|,)fraction]]][Z|±hh[[:]mm]] as
// Unix seconds. A fraction keeps what float64 can hold (about a microsecond
// in this century). zone is for stamps without an offset; nil refuses them.
func isoTime(f []byte, zone *time.Location) (float64, error) {
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
		return 0, errNotTime
	}
	var hour, minute, second int
	var fraction float64
	if mark("Tt ") {
		var ok bool
		if hour, ok = digits(2); !ok || !mark(":") {
			return 0, errNotTime
		}
		if minute, ok = digits(2); !ok {
			return 0, errNotTime
		}
		if mark(":") {
			if second, ok = digits(2); !ok {
				return 0, errNotTime
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
					return 0, errNotTime
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
			return 0, errNotTime
		}
		offset, naive = sign*(h*3600+m*60), false
	}
	if pos != len(s) {
		return 0, errNotTime
	}
	wall := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if int(wall.Month()) != month || wall.Day() != day || hour > 23 || minute > 59 || second > 59 {
		return 0, errCalendar
	}
	unix := wall.Unix() - int64(offset)
	if naive {
		if zone == nil {
			return 0, errNaive
		}
		var err error
		if unix, err = inZone(wall.Unix(), zone); err != nil {
			return 0, err
		}
	}
	return float64(unix) + fraction, nil
}

// inZone finds the one instant at which the clocks of the zone show the wall
// time (given as if it were UTC).
func inZone(wall int64, zone *time.Location) (int64, error) {
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
		return 0, errTwice
	case fitsEarly:
		return early, nil
	case fitsLate:
		return late, nil
	}
	return 0, errNoSuch
}

// clock reads the cells of a time column: all numbers, or all ISO times.
type clock struct {
	state clockState
	zone  *time.Location
}

type clockState uint8

const (
	clockNew clockState = iota
	clockNumber
	clockISO
)

// read returns the time of a cell, or what is wrong and what to do.
func (c *clock) read(f []byte, decimal byte) (t float64, msg, fix string) {
	f = trim(f)
	x, what := cell(f, decimal)
	switch {
	case what == cellMissing:
		return 0, "the sample has no time", "fill it in, or take the row out"
	case what == cellInfinite, what == cellOverflow:
		return 0, quote(string(f)) + " is not a finite time", "correct it, or take the row out"
	case what == cellNumber && c.state == clockISO:
		return 0, quote(string(f)) + " is a number, but the times before it are dates", "write all times in one way"
	case what == cellNumber:
		c.state = clockNumber
		return x, "", ""
	}
	x, err := isoTime(f, c.zone)
	switch {
	case err != nil:
		return 0, quote(string(f)) + " " + err.Error(), zoneFix(err)
	case c.state == clockNumber:
		return 0, quote(string(f)) + " is a date, but the times before it are numbers", "write all times in one way"
	}
	c.state = clockISO
	return x, "", ""
}
