package flags

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/curveil/curveil/space"
)

func TestTimeDomain(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone database")
	}
	for _, c := range []struct {
		text  string
		zone  *time.Location
		want  space.Interval
		dated bool
	}{
		{"1:18", nil, space.Interval{A: 1, B: 18}, false},
		{"-1.5e3:2", nil, space.Interval{A: -1500, B: 2}, false},
		{"1970-01-01:1970-01-03", time.UTC, space.Interval{A: 0, B: 172800}, true},
		{"1970-01-01Z/1970-01-03Z", nil, space.Interval{A: 0, B: 172800}, true},
		{"1970-01-01T01:00Z/1970-01-01T02:30:00+01:00", nil, space.Interval{A: 3600, B: 5400}, true},
		{"2020-07-01 / 2020-07-02", berlin, space.Interval{A: 1593554400, B: 1593640800}, true},
	} {
		got, dated, err := TimeDomain("--domain", c.text, c.zone)
		if err != nil || got != c.want || dated != c.dated {
			t.Errorf("%s: %v, %v, %v", c.text, got, dated, err)
		}
	}
	for text, want := range map[string]string{
		"1970-01-03/1970-01-01":  "must come after",
		"1970-01-01/1970-02-30":  "no date and time of the calendar",
		"1970-01-01/tomorrow":    "write a date such as",
		"1970-01-01:5":           "is not a number",
		"1970-01-01T01:00Z:1971": "is not a number",
		"5":                      "write a:b",
	} {
		if _, _, err := TimeDomain("--domain", text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A date that names no instant is refused, as in a file, and so is one that names two.
func TestNaiveDates(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zone database")
	}
	for _, c := range []struct {
		text string
		zone *time.Location
		want string
	}{
		{"2025-01-06/2025-01-07", nil, "write 2025-01-06Z for UTC"},
		{"2025-01-06T10:00/2025-01-07Z", nil, "--zone"},
		{"2025-10-26T02:30/2025-10-27", berlin, "write an offset"},
	} {
		if _, _, err := TimeDomain("--domain", c.text, c.zone); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
		if _, err := TimeGrid("--at", strings.Split(c.text, "/")[0], c.zone, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestTimeGrid(t *testing.T) {
	for _, c := range []struct {
		text  string
		dated bool
		want  []float64
	}{
		{"0:10:3", false, []float64{0, 5, 10}},
		{"0:10:3", true, []float64{0, 5, 10}},
		{"1,2", true, []float64{1, 2}},
		{"1970-01-01/1970-01-02/3", true, []float64{0, 43200, 86400}},
		{"1970-01-01T00:00:30Z,1970-01-02", true, []float64{30, 86400}},
	} {
		got, err := TimeGrid("--at", c.text, time.UTC, c.dated)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"1970-01-01/1970-01-02", "1970-01-01/1970-01-02/1", "1970-01-01,2", "x"} {
		if got, err := TimeGrid("--at", text, time.UTC, true); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}
