package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// counter shows on a terminal how far long work has come; elsewhere it is silent.
type counter struct {
	w     io.Writer // nil when silent
	what  string
	next  time.Time
	shown bool
}

func newCounter(w io.Writer, what string) *counter {
	c := &counter{what: what, next: time.Now().Add(time.Second)}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			c.w = f
		}
	}
	return c
}

// at says that n are done. The clock is looked at now and then only.
func (c *counter) at(n int) {
	if c.w == nil || n%64 != 0 {
		return
	}
	if now := time.Now(); now.After(c.next) {
		fmt.Fprintf(c.w, "\r%d %s", n, c.what)
		c.next, c.shown = now.Add(200*time.Millisecond), true
	}
}

// clear takes the line away.
func (c *counter) clear() {
	if c.shown {
		fmt.Fprint(c.w, "\r\x1b[K")
		c.shown = false
	}
}
