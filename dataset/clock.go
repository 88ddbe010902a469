package dataset

import (
	"time"

	iso "github.com/curveil/curveil/internal/clock"
)

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
	x, err := iso.Parse(f, c.zone)
	switch {
	case err != nil:
		return 0, quote(string(f)) + " " + err.Error(), zoneFix(err)
	case c.state == clockNumber:
		return 0, quote(string(f)) + " is a date, but the times before it are numbers", "write all times in one way"
	}
	c.state = clockISO
	return x, "", ""
}
