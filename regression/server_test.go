package regression_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// reports makes honest reports at the current model, applying each, and returns them.
func reports(t testing.TB, v *regression.Server, n int, seed uint64) (out []*regression.Report) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	c := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(seed), Ledger: free{}})
	for range n {
		if err := c.Update(v.Position()); err != nil {
			t.Fatal(err)
		}
		x := make([]float64, len(v.Stream().Basis.Box()))
		for i, d := range v.Stream().Basis.Box() {
			x[i] = d.A + d.Length()*rnd.Float64()
		}
		r, err := c.Contribute(context.Background(), x, math.Sin(6*x[0])+rnd.NormFloat64())
		if err != nil {
			t.Fatal(err)
		}
		if repeated, err := v.Apply(r); repeated || err != nil {
			t.Fatal(repeated, err)
		}
		out = append(out, r)
	}
	return out
}

func snapshot(t testing.TB, v *regression.Server) []byte {
	b, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestServerRefuses: each refusal has its reason and leaves the state as it was, to the bit.
func TestServerRefuses(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6})
	s.Staleness = 5
	v := newServer(t, s)
	honest := reports(t, v, 20, 1)
	good := *honest[19]
	good.ID[0]++
	before := snapshot(t, v)
	for _, c := range []struct {
		name   string
		spoil  func(r *regression.Report)
		reason regression.Reason
	}{
		{"other stream", func(r *regression.Report) { r.Stream[3]++ }, regression.OtherStream},
		{"stale", func(r *regression.Report) { r.At = 14 }, regression.Stale},
		{"future", func(r *regression.Report) { r.At = 21 }, regression.Future},
		{"budget", func(r *regression.Report) { r.Budget.Epsilon = 1 }, regression.BadBudget},
		{"short", func(r *regression.Report) { r.Coordinates = r.Coordinates[:2] }, regression.Malformed},
		{"none", func(r *regression.Report) { r.Coordinates = nil }, regression.Malformed},
		{"largest", func(r *regression.Report) { r.Coordinates = []int64{math.MaxInt64, math.MinInt64, 0} }, regression.Implausible},
		{"100τB", func(r *regression.Report) { r.Coordinates = along(t, s, 100*s.Tau*s.Bound) }, regression.Implausible},
	} {
		r := good
		c.spoil(&r)
		var refusal *regression.Refusal
		if err := v.Check(&r); !errors.As(err, &refusal) || refusal.Reason != c.reason {
			t.Errorf("%s: Check: %v", c.name, err)
		}
		if _, err := v.Apply(&r); !errors.As(err, &refusal) || refusal.Reason != c.reason {
			t.Errorf("%s: Apply: %v", c.name, err)
		}
	}
	for _, r := range honest {
		if repeated, err := v.Apply(r); !repeated || err != nil {
			t.Errorf("a repeat, stale by now: %v %v", repeated, err)
		}
		if err := v.Check(r); err != nil {
			t.Errorf("Check of a repeat: %v", err)
		}
	}
	if !bytes.Equal(before, snapshot(t, v)) {
		t.Error("refused and repeated reports changed the state")
	}
	good.At = 15 // the oldest that is accepted
	if repeated, err := v.Apply(&good); repeated || err != nil {
		t.Errorf("a report at the edge of staleness: %v %v", repeated, err)
	}
}

// along is a report of the length in the first coordinate.
func along(t testing.TB, s regression.Stream, length float64) []int64 {
	k := make([]int64, s.Basis.Dim())
	k[0] = int64(length / mustBall(t, s).Step())
	return k
}

// TestReplayAndSnapshots: a log with repeats and refused reports replays to identical bytes, and so does any snapshot followed by the
// rest of the log.
func TestReplayAndSnapshots(t *testing.T) {
	for _, s := range streams(t) {
		v := newServer(t, s)
		log := reports(t, v, 30, 2)
		mixed := append([]*regression.Report(nil), log[:20]...)
		mixed = append(mixed, log[3], log[0], &regression.Report{}, log[19])
		mixed = append(mixed, log[20:]...)
		want := snapshot(t, v)
		for _, cut := range []int{0, 1, 7, 21, len(mixed)} {
			w := newServer(t, s)
			for i, r := range mixed {
				if i == cut {
					w = restore(t, snapshot(t, w))
				}
				_, _ = w.Apply(r)
			}
			if !bytes.Equal(want, snapshot(t, w)) {
				t.Errorf("%s: replay with a snapshot at %d gives another state", s.Name, cut)
			}
		}
		w := restore(t, want)
		if a, b := encode(t, v), encode(t, w); !bytes.Equal(a, b) {
			t.Errorf("%s: the restored server releases\n%s\nwant\n%s", s.Name, b, a)
		}
		if a, _ := v.ModelJSON(); !bytes.Equal(a, must(w.ModelJSON())) {
			t.Errorf("%s: the restored server publishes another model", s.Name)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func restore(t testing.TB, data []byte) *regression.Server {
	v := new(regression.Server)
	if err := v.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t testing.TB, v *regression.Server) []byte {
	r, err := v.Release()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// streams has one of each shape.
func streams(t testing.TB) (out []regression.Stream) {
	all := bases(t)
	for name, change := range map[string]func(*regression.Stream){
		"kernel:gauss:0.1": func(s *regression.Stream) {},
		"legendre:6":       func(s *regression.Stream) { s.Center, s.Radius = 3.5, 2 },
		"radial": func(s *regression.Stream) {
			s.Center = -1
			s.Steps = regression.Steps{Gamma0: 0.2, Horizon: 100, Exponent: 0.1}
		},
		"fourier2d": func(s *regression.Stream) { s.Mixed = true },
	} {
		s := regression.Stream{Name: name, Basis: all[name], Tau: 1, Steps: regression.Steps{Gamma0: 0.02, Exponent: 0.5}, Budget: privacy.Approx{Epsilon: 2, Delta: 1e-6}, XLabel: "hour", YLabel: "°C"}
		change(&s)
		out = append(out, s.WithDefaults())
	}
	return out
}

func TestSnapshotRefusesDamage(t *testing.T) {
	v := newServer(t, smallStream(t, privacy.Approx{Epsilon: 2, Delta: 1e-6}))
	reports(t, v, 5, 3)
	data := snapshot(t, v)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		if err := new(regression.Server).UnmarshalBinary(bad); err == nil {
			t.Fatalf("a flipped bit in byte %d of %d was not noticed", i, len(data))
		}
		if err := new(regression.Server).UnmarshalBinary(data[:i]); err == nil {
			t.Fatalf("%d of %d bytes were accepted", i, len(data))
		}
	}
	w := newServer(t, smallStream(t, privacy.Approx{Epsilon: 1, Delta: 1e-6}))
	before := snapshot(t, w)
	if err := w.UnmarshalBinary(data[:len(data)-1]); err == nil || !bytes.Equal(before, snapshot(t, w)) {
		t.Errorf("a refused snapshot changed the server (%v)", err)
	}
}

// TestRelease: it evaluates like the server, decodes, says local and demonstration, and its noise is the undamped bound.
func TestRelease(t *testing.T) {
	for _, s := range streams(t) {
		v := newServer(t, s)
		if _, err := v.Release(); err == nil {
			t.Errorf("%s: a release of nobody", s.Name)
		}
		reports(t, v, 50, 4)
		r, err := release.Decode(bytes.NewReader(encode(t, v)))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if r.N != 50 || r.Private || r.Privacy.Adjacency != privacy.Local || r.Privacy.Guarantee != privacy.Guarantee(s.Budget) {
			t.Errorf("%s: n %d, private %v, %v", s.Name, r.N, r.Private, r.Privacy)
		}
		x := make([]float64, len(s.Basis.Box()))
		for i, d := range s.Basis.Box() {
			x[i] = d.A + 0.3*d.Length()
		}
		got, want := r.AtPoint(x), v.Estimate(x)
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Errorf("%s: release %v, server %v", s.Name, got, want)
		}
		if lo, hi := r.BandAtPoint(x, 0.9); !(lo <= got && got <= hi) {
			t.Errorf("%s: band [%v, %v] around %v", s.Name, lo, hi, got)
		}
		sigma, err := s.NoiseScale(s.Budget)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := 1; i <= 50; i++ {
			g := v.Stream().Steps.At(float64(i)) * sigma * float64(50-i+1) / 50
			sum += g * g
		}
		if math.Abs(r.Noise.Scale/math.Sqrt(sum)-1) > 1e-9 {
			t.Errorf("%s: noise scale %v, want %v", s.Name, r.Noise.Scale, math.Sqrt(sum))
		}
	}
}

// TestMixedBudgets: a report of smaller ε counts with weight (s/s_i)², and the release claims the stream's budget.
func TestMixedBudgets(t *testing.T) {
	s := smallStream(t, privacy.Approx{Epsilon: 4, Delta: 1e-6})
	s.Mixed, s.Steps = true, regression.Steps{Gamma0: 0.1, Horizon: 100}
	v := newServer(t, s)
	own := privacy.Approx{Epsilon: 1, Delta: 1e-7}
	c := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(5), Budget: own})
	r, err := c.Contribute(context.Background(), []float64{0.2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Apply(r); err != nil {
		t.Fatal(err)
	}
	usual, _ := s.NoiseScale(s.Budget)
	noisy, _ := s.NoiseScale(own)
	weight := usual * usual / (noisy * noisy)
	for j, a := range v.Position().Coordinates {
		if want := 0.1 * weight * float64(r.Coordinates[j]) * mustBall(t, s).Step(); math.Abs(a-want) > 1e-12*math.Abs(want) {
			t.Errorf("coordinate %d after one report of weight %.4f: %v, want %v", j, weight, a, want)
		}
	}
	out, err := v.Release()
	if err != nil || out.Privacy.Guarantee != privacy.Guarantee(s.Budget) {
		t.Errorf("%v %v", out, err)
	}
	// A forged tiny ε buys no influence.
	forged := *r
	forged.ID[0]++
	forged.Budget = privacy.Approx{Epsilon: 1e-3, Delta: 1e-7}
	tiny, err := s.NoiseScale(forged.Budget)
	if err != nil {
		t.Fatal(err)
	}
	forged.Coordinates = along(t, s, 0.999*(s.Tau*s.Bound+tiny*(math.Sqrt(3)+6)))
	before := v.Position().Coordinates
	if _, err := v.Apply(&forged); err != nil {
		t.Fatal(err)
	}
	influence, err := s.Influence()
	if err != nil {
		t.Fatal(err)
	}
	if moved := distance(before, v.Position().Coordinates); moved > influence {
		t.Errorf("a forged report moved the model by %v, the bound is %v", moved, influence)
	}
}

func distance(a, b []float64) float64 {
	d := 0.0
	for j := range a {
		d = math.Hypot(d, a[j]-b[j])
	}
	return d
}

// TestForgedReports: a tenth of the people send the longest plausible reports, all in one direction. Against the same run with these
// reports zero, the curve moves by less than Stream.Influence says, and reports of 100τB are refused.
func TestForgedReports(t *testing.T) {
	const n = 2000
	sp, err := space.Kernel(space.Gaussian(0.1), space.Midpoints(0, 1, 64))
	if err != nil {
		t.Fatal(err)
	}
	s := regression.Stream{Name: "attacked", Basis: regression.OneVariable(sp), Tau: 0.67, Bound: 1, Steps: regression.Steps{Gamma0: 0.02, Horizon: n}, Budget: privacy.Approx{Epsilon: 3, Delta: 1e-4}}.WithDefaults()
	influence, err := s.Influence()
	if err != nil {
		t.Fatal(err)
	}
	sigma, err := s.NoiseScale(s.Budget)
	if err != nil {
		t.Fatal(err)
	}
	longest := 0.999 * (s.Tau*s.Bound + sigma*(math.Sqrt(float64(s.Basis.Dim()))+6))
	run := func(length float64) (v *regression.Server, refused int) {
		v = newServer(t, s)
		c := newClient(t, v, regression.ClientConfig{Source: noise.Seeded(6), Ledger: free{}})
		rnd := rand.New(rand.NewPCG(6, 6))
		for i := range n {
			if err := c.Update(v.Position()); err != nil {
				t.Fatal(err)
			}
			x := rnd.Float64()
			r, err := c.Contribute(context.Background(), []float64{x}, math.Sin(2*math.Pi*x)+0.5*rnd.NormFloat64())
			if err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				r.Coordinates = along(t, s, length)
			}
			if _, err := v.Apply(r); err != nil {
				refused++
			}
		}
		return v, refused
	}
	clean, _ := run(0)
	attacked, refused := run(longest)
	if refused != 0 {
		t.Fatalf("%d plausible reports were refused", refused)
	}
	moved, bound := distance(clean.Coordinates(), attacked.Coordinates()), influence*n/10
	t.Logf("a tenth of %d people forging: moved by %.3g in the norm of the space, proved bound %.3g", n, moved, bound)
	if moved > bound {
		t.Errorf("moved by %v, more than %v", moved, bound)
	}
	if _, refused := run(100 * s.Tau * s.Bound); refused != n/10 {
		t.Errorf("%d of %d reports of 100τB were refused", refused, n/10)
	}
}

// TestModelForms: model and position come back from JSON as they were, for every kind of space.
func TestModelForms(t *testing.T) {
	for name, basis := range bases(t) {
		s := regression.Stream{Name: name + " <&>", Basis: basis, Tau: 1.25, Steps: regression.Steps{Gamma0: 0.01, Exponent: 0.6, Horizon: 1000}, Budget: privacy.Approx{Epsilon: 1, Delta: 1e-6}}
		v := newServer(t, s)
		reports(t, v, 3, 8)
		text, err := v.ModelJSON()
		if err != nil {
			t.Fatal(err)
		}
		var m regression.Model
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := json.Marshal(m)
		if err != nil || !bytes.Equal(text, again) {
			t.Errorf("%s: model written again differs (%v)", name, err)
		}
		c, err := regression.NewClient(&m, regression.ClientConfig{Source: noise.Seeded(1)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x := make([]float64, len(basis.Box()))
		r, err := c.Contribute(context.Background(), x, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Apply(r); err != nil {
			t.Errorf("%s: a report at the decoded model: %v", name, err)
		}
		position, err := json.Marshal(v.Position())
		if err != nil {
			t.Fatal(err)
		}
		var p regression.Position
		if err := json.Unmarshal(position, &p); err != nil || p.At != 4 {
			t.Errorf("%s: %v, at %d", name, err, p.At)
		}
	}
}
