package dataset

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var decimalGrammar = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

// checkCell holds cell against strconv on one text.
func checkCell(t *testing.T, text string) {
	t.Helper()
	trimmed := strings.Trim(text, " \t")
	x, what := cell([]byte(text), '.')
	want, err := strconv.ParseFloat(trimmed, 64)
	isNumber := decimalGrammar.MatchString(trimmed)
	switch {
	case isNumber && err == nil:
		if what != cellNumber || math.Float64bits(x) != math.Float64bits(want) {
			t.Errorf("%q: got %v (kind %d), want %v", text, x, what, want)
		}
	case isNumber:
		if what != cellOverflow {
			t.Errorf("%q: kind %d, want overflow", text, what)
		}
	case what == cellNumber:
		t.Errorf("%q: read as %v, but it is no decimal number", text, x)
	}
	if isNumber && !strings.Contains(text, ",") {
		comma := strings.ReplaceAll(text, ".", ",")
		if y, k := cell([]byte(comma), ','); k != what || k == cellNumber && math.Float64bits(y) != math.Float64bits(x) {
			t.Errorf("%q: got %v (kind %d), with a point %v (kind %d)", comma, y, k, x, what)
		}
	}
	// The fast reader answers only what strconv answers, and stops at the end.
	if x, next, ok := number([]byte(trimmed+";9"), 0, '.'); ok && next == len(trimmed) {
		if err != nil || math.Float64bits(x) != math.Float64bits(want) {
			t.Errorf("number(%q) = %v, want %v (%v)", trimmed, x, want, err)
		}
	}
}

func FuzzCell(f *testing.F) {
	for _, seed := range []string{"0", "-0", "81.3", " 81.3\t", "+1", "1e5", "1E-5", ".5", "5.", ".", "-", "1e", "1e+", "0x1p3", "1_000", "9007199254740993",
		"9007199254740992.5", "0.1234567890123456789", "1e400", "1e-400", "4.9e-324", "123456789012345678901234567890", "NaN", "inf", "-Infinity", "NA", "n/a", "NULL", "1.5.2", "1,5", "--1", "१"} {
		f.Add(seed)
	}
	f.Fuzz(checkCell)
}

// Numbers as people and programs write them, of every length.
func TestCellAgainstStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := math.Float64frombits(r.Uint64())
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		checkCell(t, strconv.FormatFloat(x, 'g', 1+r.IntN(20), 64))
		checkCell(t, strconv.FormatFloat(r.NormFloat64()*math.Pow(10, float64(r.IntN(12)-3)), 'f', r.IntN(18), 64))
	}
}

func TestMissing(t *testing.T) {
	for _, text := range []string{"", " ", "NA", "na", "Na", "NaN", "nan", "NAN", "N/A", "n/a", "null", "NULL", "Null", " NA "} {
		if _, what := cell([]byte(text), '.'); what != cellMissing {
			t.Errorf("%q: kind %d, want missing", text, what)
		}
	}
	for _, text := range []string{"-", "?", ".", "none", "nil", "NAA", "N", "nanny"} {
		if _, what := cell([]byte(text), '.'); what != cellText {
			t.Errorf("%q: kind %d, want text", text, what)
		}
	}
	for _, text := range []string{"Inf", "-inf", "+INF", "infinity", "-Infinity"} {
		if _, what := cell([]byte(text), '.'); what != cellInfinite {
			t.Errorf("%q: kind %d, want infinite", text, what)
		}
	}
}
