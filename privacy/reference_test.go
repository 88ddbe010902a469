package privacy

// Comparison with reference values of 30 digits: testdata/reference.json, made by testdata/reference.py with mpmath at
// 70 digits from the defining formulas. Every function that decides a guarantee must land on its own side of the exact
// value, and close to it.

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"
)

type reference struct {
	name string
	args []float64
	want *big.Float
}

func references(t *testing.T) []reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	var refs []reference
	for _, row := range rows {
		r := reference{name: row[0].(string)}
		for _, a := range row[1 : len(row)-1] {
			r.args = append(r.args, a.(float64))
		}
		r.want, _, err = big.ParseFloat(row[len(row)-1].(string), 10, 120, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, r)
	}
	return refs
}

// excess returns (got−want)/max(|want|, floor) with its exact sign.
func excess(got float64, want *big.Float, floor float64) float64 {
	d := new(big.Float).SetPrec(200).SetFloat64(got)
	d.Sub(d, want)
	e, _ := d.Float64()
	w, _ := want.Float64()
	return e / math.Max(math.Abs(w), floor)
}

func TestReference(t *testing.T) {
	seen := map[string]int{}
	worst := map[string]float64{}
	for _, r := range references(t) {
		seen[r.name]++
		var got, floor float64 // floor: magnitude below which the error is absolute
		sign := 1.0            // +1: not below exact, -1: not above, 0: either
		tol := 1e-14
		w, _ := r.want.Float64()
		switch a := r.args; r.name {
		case "logdelta":
			got, floor, tol = GDP(a[0]).LogDelta(a[1]), 1, 1e-14
			if math.IsInf(got, -1) {
				t.Errorf("%s%v = -Inf, want %v", r.name, a, r.want)
			}
		case "epsilon":
			// ε is δ's error over −dlogδ/dε ≥ 1/μ (hazard of the normal law) for small ε; 1e-14 relative beyond.
			got, floor, tol = GDP(a[0]).Epsilon(a[1]), a[0], 4e-14
		case "tradeoff":
			got, sign, tol = GDP(a[0]).Tradeoff(a[1]), -1, 6e-14+1e-14*a[0]*(a[0]+40)
			floor = math.SmallestNonzeroFloat64
		case "mu":
			mu, err := GaussianMu(Approx{a[0], a[1]})
			if err != nil {
				t.Fatal(err)
			}
			got, sign, tol = float64(mu), -1, 4e-14-2e-15*math.Log(a[1])
		case "pure":
			got = float64(Pure(a[0]).GDP())
		case "zcdp-epsilon":
			got, floor, tol = ZCDP(a[0]).Epsilon(a[1]), 1e-3, 1e-13
		case "zcdp-logdelta":
			got = ZCDP(a[0]).Delta(a[1])
			if got > 1e-300 {
				got = math.Log(got)
			} else {
				// The exact value underflows: reported as the smallest positive number.
				if w > -690 {
					t.Errorf("%s%v = %g, want exp(%g)", r.name, a, got, w)
				}
				continue
			}
			floor, tol = 1, 1e-13
			if w == 0 && got == 0 {
				continue
			}
		case "logq":
			got, sign = logQ(a[0]), 0
			tol = 4e-15 + 2e-16*a[0]*a[0]
		default:
			t.Fatalf("unknown reference %q", r.name)
		}
		e := excess(got, r.want, floor)
		worst[r.name] = math.Max(worst[r.name], math.Abs(e)/tol)
		if e*sign < 0 {
			t.Errorf("%s%v = %.17g lies on the wrong side of %v (relative %g)", r.name, r.args, got, r.want, e)
		}
		if !(math.Abs(e) <= tol) {
			t.Errorf("%s%v = %.17g, want %v (relative %g, allowed %g)", r.name, r.args, got, r.want, e, tol)
		}
	}
	for _, name := range []string{"logdelta", "epsilon", "tradeoff", "mu", "pure", "zcdp-epsilon", "zcdp-logdelta", "logq"} {
		if seen[name] < 10 {
			t.Errorf("%d references of %q, want at least 10", seen[name], name)
		}
		t.Logf("%-14s %4d values, largest error %.2f of the allowed", name, seen[name], worst[name])
	}
}
