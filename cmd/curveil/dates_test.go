package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// meters writes load profiles of two days, hour by hour, in dates.
func meters(t *testing.T, zone string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("meter,time,kw\n")
	start := time.Date(2025, 1, 6, 0, 0, 0, 0, time.UTC)
	for m := range 5 {
		for h := range 48 {
			fmt.Fprintf(&b, "m%d,%s%s,%d\n", m, start.Add(time.Duration(h)*time.Hour).Format("2006-01-02T15:04:05"), zone, h%24)
		}
	}
	return write(t, "load.csv", b.String())
}

// A curve over dates stays one over dates from the domain to the table.
func TestDates(t *testing.T) {
	file := meters(t, "Z")
	dir := t.TempDir()
	out, picture := filepath.Join(dir, "load.json"), filepath.Join(dir, "load.svg")
	common := []string{"mean", file, "--space", "fourier:3", "--bound", "30", "--mu", "1", "--ledger", "none"}
	must(t, append(common, "--domain", "2025-01-06Z/2025-01-08Z", "-o", out, "--plot", picture)...)
	if show, _ := must(t, "show", out); !strings.Contains(show, "on [2025-01-06, 2025-01-08]") {
		t.Error(show)
	}
	table, _ := must(t, "eval", out, "--at", "2025-01-06T08:00Z,2025-01-07Z")
	if !regexp.MustCompile(`(?s)\n2025-01-06T08:00:00Z,.*\n2025-01-07T00:00:00Z,`).MatchString(table) {
		t.Error(table)
	}
	if table, _ = must(t, "eval", out, "--at", "2025-01-06Z/2025-01-08Z/3"); strings.Count(table, "T00:00:00Z,") != 3 {
		t.Error(table)
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.Contains(string(svg), "time (UTC)") {
		t.Errorf("no dates in the picture (%v)", err)
	}
	// Dates in the data are enough to know that numbers are seconds.
	must(t, append(common, "--domain", "1736121600:1736294400", "-o", out, "--force")...)
	if show, _ := must(t, "show", out); !strings.Contains(show, "on [2025-01-06, 2025-01-08]") {
		t.Error(show)
	}
	for _, c := range []struct{ domain, want string }{
		{"", "--domain FROM/TO is needed"},
		{"2025-01-06Z/2025-01-07Z", "load.csv:27:2 (time): time 2025-01-07T01:00:00Z is outside the domain [2025-01-06,2025-01-07]"},
		{"2025-01-08Z/2025-01-06Z", "must come after"},
		{"2025-01-06Z/soon", "write a date such as"},
		{"2025-01-06/2025-01-08", "write 2025-01-06Z for UTC"},
		{"0:48", "a domain of dates is written FROM/TO"},
	} {
		if code, _, stderr := call(t, append(common, "--domain", c.domain)...); code == exitDone || !strings.Contains(stderr, c.want) {
			t.Errorf("--domain %q: exit %d, %s; want %q", c.domain, code, stderr, c.want)
		}
	}
	if code, _, stderr := call(t, "eval", out, "--at", "2025-02-01Z"); code != exitUsage || !strings.Contains(stderr, "2025-02-01T00:00:00Z is outside the domain [2025-01-06, 2025-01-08]") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// Dates without an offset are those of --zone, in the file and in the domain.
func TestDatesOfAZone(t *testing.T) {
	if _, err := time.LoadLocation("Europe/Berlin"); err != nil {
		t.Skip("no time zone database")
	}
	file := meters(t, "")
	common := []string{"mean", file, "--space", "fourier:3", "--bound", "30", "--mu", "1", "--ledger", "none"}
	// What the file says is found again in the error, and so is the way out.
	code, _, stderr := call(t, append(common, "--zone", "Europe/Berlin", "--domain", "2025-01-06/2025-01-07")...)
	if code != exitFailed || !strings.Contains(stderr, "time 2025-01-07T01:00:00+01:00 is outside the domain [2025-01-06,2025-01-07]") || !strings.Contains(stderr, "--zone") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, append(common, "--domain", "2025-01-06/2025-01-08")...); code != exitUsage || !strings.Contains(stderr, "--zone") {
		t.Errorf("dates without a zone: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, "curve", file, "--rho", "1", "--window", "2025-01-06/2025-01-08", "--every", "60", "--max-gap", "inf", "-o", filepath.Join(t.TempDir(), "c.csv")); code != exitUsage || !strings.Contains(stderr, "--zone") {
		t.Errorf("a window without a zone: exit %d, %s", code, stderr)
	}
	out := filepath.Join(t.TempDir(), "load.json")
	must(t, "mean", file, "--space", "fourier:3", "--bound", "30", "--mu", "1", "--ledger", "none", "--zone", "Europe/Berlin", "--domain", "2025-01-06/2025-01-08", "-o", out)
	if show, _ := must(t, "show", out); !strings.Contains(show, "on [2025-01-05T23:00:00Z, 2025-01-07T23:00:00Z]") {
		t.Error(show)
	}
	if code, _, stderr := call(t, "eval", out, "--at", "2025-01-06"); code != exitUsage || !strings.Contains(stderr, "--zone") {
		t.Errorf("--at without a zone: exit %d, %s", code, stderr)
	}
	if table, _ := must(t, "eval", out, "--at", "2025-01-06,2025-01-07T12:30", "--zone", "Europe/Berlin"); !strings.Contains(table, "\n2025-01-06T00:00:00+01:00,") || !strings.Contains(table, "\n2025-01-07T12:30:00+01:00,") {
		t.Error(table)
	}
	must(t, "plan", "mean", "--n", "90", "--domain", "2025-01-06/2025-01-08", "--bound", "3", "--mu", "1") // its length counts
}
