// Ticks: round steps, as many as fit, all labels of an axis with the same
// decimals.

package plot

import (
	"math"
	"strconv"
	"strings"
	"time"

	gplot "gonum.org/v1/plot"
)

// ticker gives fixed ticks, computed once for the range of the axis.
type ticker []gplot.Tick

func (t ticker) Ticks(_, _ float64) []gplot.Tick { return t }

// linearTicks returns at most n labelled ticks in [lo, hi].
func linearTicks(lo, hi float64, n int) ticker {
	step := niceStep((hi - lo) / float64(max(n, 1)))
	var values []float64
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		values = append(values, k*step)
		if len(values) > 100 { // a range too narrow for its magnitude
			break
		}
	}
	label := numberLabels(values, step)
	t := make(ticker, len(values))
	for i, v := range values {
		t[i] = gplot.Tick{Value: v, Label: label(v)}
	}
	return t
}

// withEnds adds ticks at the ends of the range, where the labels' decimals can say them and
// they keep apart from the next.
func (t ticker) withEnds(lo, hi float64, apart func(a, b gplot.Tick) bool) ticker {
	if len(t) < 2 {
		return t
	}
	step := t[1].Value - t[0].Value
	label := numberLabels([]float64{lo, hi}, math.Pow(10, math.Floor(math.Log10(step)+1e-9))) // the decimals of the step
	end := func(v float64) (tick gplot.Tick, exact bool) {
		tick = gplot.Tick{Value: v, Label: label(v)}
		said, err := strconv.ParseFloat(strings.NewReplacer("\u2212", "-", "\u2009", "").Replace(tick.Label), 64)
		return tick, err == nil && math.Abs(said-v) < 1e-6*step
	}
	if first, exact := end(lo); exact && apart(first, t[0]) {
		t = append(ticker{first}, t...)
	}
	if last, exact := end(hi); exact && apart(t[len(t)-1], last) {
		t = append(t, last)
	}
	return t
}

// niceStep is the smallest of 1, 2, 5 times a power of ten that is at least s.
func niceStep(s float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(s)))
	for _, f := range []float64{1, 2, 5} {
		if f*p >= s*(1-1e-9) {
			return f * p
		}
	}
	return 10 * p
}

// numberLabels chooses one notation for an axis: plain with grouped thousands,
// or a mantissa with a power of ten for the very large and very small.
func numberLabels(values []float64, step float64) func(float64) string {
	var big float64
	for _, v := range values {
		big = math.Max(big, math.Abs(v))
	}
	if big != 0 && (big >= 1e12 || big < 1e-3) {
		e := math.Floor(math.Log10(big) + 1e-9)
		unit := math.Pow(10, e)
		decimals := int(math.Max(0, e-math.Floor(math.Log10(step)+1e-9)))
		return func(v float64) string {
			if math.Abs(v) < step/2 {
				return "0"
			}
			return minus(strconv.FormatFloat(v/unit, 'f', decimals, 64)) + "·10" + raise + minus(strconv.Itoa(int(e)))
		}
	}
	decimals := int(math.Max(0, -math.Floor(math.Log10(step)+1e-9)))
	return func(v float64) string {
		if math.Abs(v) < step/2 {
			v = 0 // never −0 or rounding dust
		}
		return minus(group(strconv.FormatFloat(v, 'f', decimals, 64)))
	}
}

func minus(s string) string { return strings.Replace(s, "-", "\u2212", 1) }

// group puts thin spaces between the thousands of numbers from 10 000 on.
func group(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if len(whole) >= 5 {
		var parts []string
		for len(whole) > 3 {
			parts = append([]string{whole[len(whole)-3:]}, parts...)
			whole = whole[:len(whole)-3]
		}
		whole = strings.Join(append([]string{whole}, parts...), "\u2009")
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}

// logTicks labels powers of ten, thinned to n, and where less than two decades
// show also 2 and 5; unlabelled ticks stand at 2…9.
func logTicks(lo, hi float64, n int) ticker {
	first, last := math.Floor(math.Log10(lo)+1e-9), math.Ceil(math.Log10(hi)-1e-9)
	every := math.Max(1, math.Ceil((last-first)/float64(max(n, 1))))
	narrow := math.Log10(hi/lo) < 2
	powers := lo < 0.99e-3 || hi > 1.01e5
	var t ticker
	for e := first; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			tick := gplot.Tick{Value: v}
			if m == 1 && math.Mod(e-first, every) == 0 || narrow && (m == 2 || m == 5) {
				tick.Label = logLabel(m, int(e), powers)
			}
			if every == 1 || tick.Label != "" {
				t = append(t, tick)
			}
		}
	}
	return t
}

func logLabel(m float64, e int, powers bool) string {
	if !powers || e == 0 {
		return group(strconv.FormatFloat(m*math.Pow(10, float64(e)), 'f', max(0, -e), 64))
	}
	power := "10" + raise + minus(strconv.Itoa(e))
	if m == 1 {
		return power
	}
	return strconv.Itoa(int(m)) + "·" + power
}

// timeSteps are the distances of ticks on an axis of Unix seconds, and how to
// write a tick that is, and one that is not, the first of a new larger unit.
var timeSteps = []struct {
	seconds       float64
	first, others string
}{
	{1, "2 Jan 15:04:05", "15:04:05"}, {5, "2 Jan 15:04:05", "15:04:05"}, {15, "2 Jan 15:04:05", "15:04:05"}, {30, "2 Jan 15:04:05", "15:04:05"},
	{60, "2 Jan 15:04", "15:04"}, {300, "2 Jan 15:04", "15:04"}, {900, "2 Jan 15:04", "15:04"}, {1800, "2 Jan 15:04", "15:04"},
	{3600, "2 Jan 15:04", "15:04"}, {7200, "2 Jan 15:04", "15:04"}, {10800, "2 Jan 15:04", "15:04"}, {21600, "2 Jan 15:04", "15:04"}, {43200, "2 Jan 15:04", "15:04"},
	{86400, "2 Jan 2006", "2 Jan"}, {2 * 86400, "2 Jan 2006", "2 Jan"}, {7 * 86400, "2 Jan 2006", "2 Jan"}, {14 * 86400, "2 Jan 2006", "2 Jan"},
}

// timeTicks returns at most n ticks at round UTC times for Unix seconds.
func timeTicks(lo, hi float64, n int) ticker {
	want := (hi - lo) / float64(max(n, 1))
	for _, s := range timeSteps {
		if s.seconds < want {
			continue
		}
		var t ticker
		day := ""
		for k := math.Ceil(lo / s.seconds); k*s.seconds <= hi; k++ {
			at := time.Unix(int64(k*s.seconds), 0).UTC()
			layout, unit := s.others, at.Format("2006-01-02")
			if s.seconds >= 86400 {
				unit = at.Format("2006")
			}
			if unit != day {
				layout, day = s.first, unit
			}
			t = append(t, gplot.Tick{Value: k * s.seconds, Label: at.Format(layout)})
		}
		return t
	}
	return monthTicks(lo, hi, want)
}

func monthTicks(lo, hi, want float64) ticker {
	const month = 30.44 * 86400
	months := 12 * int(math.Max(1, niceStep(want/month/12)))
	layout := "2006"
	for _, m := range []int{1, 2, 3, 6} {
		if float64(m)*month >= want {
			months, layout = m, "Jan 2006"
			break
		}
	}
	var t ticker
	start := time.Unix(int64(lo), 0).UTC()
	for k := (start.Year()*12 + int(start.Month()) - 1) / months * months; ; k += months {
		at := time.Date(k/12, time.Month(k%12+1), 1, 0, 0, 0, 0, time.UTC)
		v := float64(at.Unix())
		if v > hi || len(t) > 100 {
			return t
		}
		if v >= lo {
			t = append(t, gplot.Tick{Value: v, Label: at.Format(layout)})
		}
	}
}
