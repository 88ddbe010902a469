package plot

import (
	"math"
	"strings"
	"testing"
	"time"

	gplot "gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func labels(t ticker) string {
	var s []string
	for _, m := range t {
		if m.Label != "" {
			s = append(s, strings.ReplaceAll(strings.ReplaceAll(m.Label, raise, "^"), "\u2009", "_"))
		}
	}
	return strings.Join(s, " ")
}

func TestTicks(t *testing.T) {
	at := func(s string) float64 {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return float64(v.Unix())
	}
	for _, tt := range []struct {
		name string
		got  ticker
		want string
	}{
		{"ages", linearTicks(2, 18, 8), "2 4 6 8 10 12 14 16 18"},
		{"across zero", linearTicks(-0.31, 0.29, 4), "−0.2 0.0 0.2"},
		{"thousands", linearTicks(0, 20000, 4), "0 5000 10_000 15_000 20_000"},
		{"large and narrow", linearTicks(1211058000, 1211101200, 5), "1_211_060_000 1_211_070_000 1_211_080_000 1_211_090_000 1_211_100_000"},
		{"huge", linearTicks(-1e15, 2e15, 3), "−1·10^15 0 1·10^15 2·10^15"},
		{"minute", linearTicks(0, 5e-7, 5), "0 1·10^−7 2·10^−7 3·10^−7 4·10^−7 5·10^−7"},
		{"decades", logTicks(0.5, 2e4, 8), "1 10 100 1000 10_000"},
		{"many decades", logTicks(1e-9, 1, 5), "10^−9 10^−7 10^−5 10^−3 10^−1"},
		{"within a decade", logTicks(1.5, 60, 8), "2 5 10 20 50"},
		{"night", timeTicks(at("2008-05-17T21:00:00Z"), at("2008-05-18T09:00:00Z"), 6), "17 May 22:00 18 May 00:00 02:00 04:00 06:00 08:00"},
		{"months", timeTicks(at("2023-11-10T00:00:00Z"), at("2024-08-10T00:00:00Z"), 5), "Jan 2024 Mar 2024 May 2024 Jul 2024"},
		{"years", timeTicks(at("1990-06-01T00:00:00Z"), at("2024-06-01T00:00:00Z"), 5), "2000 2010 2020"},
		{"seconds", timeTicks(1e9, 1e9+20, 5), "9 Sep 01:46:40 01:46:45 01:46:50 01:46:55 01:47:00"},
		{"before 1970", timeTicks(-1e9, -1e9+86400*4, 4), "25 Apr 1938 26 Apr 27 Apr 28 Apr"},
	} {
		if got := labels(tt.got); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Ticks of any range are few, inside it, and rising, with distinct labels.
func TestTicksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e18, 1e18).Draw(t, "lo") * math.Pow(10, -float64(rapid.IntRange(0, 30).Draw(t, "small")))
		width := rapid.Float64Range(1e-5, 1e5).Draw(t, "width") * math.Max(math.Abs(lo), 1e-20)
		n := rapid.IntRange(2, 8).Draw(t, "n")
		for name, ticks := range map[string]ticker{
			"linear": linearTicks(lo, lo+width, n), "log": logTicks(math.Abs(lo)+1e-20, math.Abs(lo)+width+1e-20, n),
		} {
			seen := make(map[string]bool)
			for i, m := range ticks {
				if i > 0 && m.Value <= ticks[i-1].Value {
					t.Fatalf("%s: ticks do not rise: %v", name, ticks)
				}
				if m.Label != "" && seen[m.Label] {
					t.Fatalf("%s: label %q twice in %v", name, m.Label, labels(ticks))
				}
				seen[m.Label] = true
			}
			if len(seen) > 2*n+4 {
				t.Fatalf("%s: %d labels for %d wanted: %v", name, len(seen), n, labels(ticks))
			}
		}
	})
}

// A curve's axis says where the domain begins and ends, if that can be said and there is room.
func TestEndTicks(t *testing.T) {
	apart := func(a, b gplot.Tick) bool { return b.Value-a.Value > 2 }
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 18, "1 5 10 15 18"}, {0, 20, "0 5 10 15 20"}, {4, 18, "5 10 15 18"}, {1, 16, "1 5 10 15"}, {1.5, 18, "5 10 15 18"},
	} {
		var got []string
		for _, tick := range linearTicks(c.lo, c.hi, 4).withEnds(c.lo, c.hi, apart) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("[%g, %g]: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
}
