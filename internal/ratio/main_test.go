package main

import (
	"testing"
)

// The files that are measured are files that a bare read can read to their end.
func TestFiles(t *testing.T) {
	m := &machine{dir: t.TempDir()}
	wide, err := m.wide("w.csv", 20, 3)
	if err != nil {
		t.Fatal(err)
	}
	long, err := m.long("l.csv", 20, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	points, err := m.points("p.csv", 300, 2)
	if err != nil {
		t.Fatal(err)
	}
	track, err := m.track("t.csv", 10)
	if err != nil {
		t.Fatal(err)
	}
	pq, err := m.parquet(wide)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{wide, long, points, track, pq} {
		if err := bareRead(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if bareRead(m.path("absent")) == nil {
		t.Error("a file that is not there was read")
	}
}
