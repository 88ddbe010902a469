package privacy

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var statements = []struct {
	s    Statement
	json string
	text string
}{
	{Statement{Guarantee: GDP(1), Adjacency: ReplaceOne, Unit: "patient"},
		`{"definition":"gdp","mu":1,"adjacency":"replace-one","unit":"patient"}`, "μ = 1 (GDP), replace-one patient"},
	{Statement{Guarantee: ZCDP(0.5), Adjacency: ReplaceOne, Unit: "child"},
		`{"definition":"zcdp","rho":0.5,"adjacency":"replace-one","unit":"child"}`, "ρ = 0.5 (zCDP), replace-one child"},
	{Statement{Guarantee: Pure(0.1), Adjacency: AddRemove, Unit: "gång \"1\""},
		`{"definition":"pure","epsilon":0.1,"adjacency":"add-remove","unit":"gång \"1\""}`, "ε = 0.1 (pure DP), add-remove gång \"1\""},
	{Statement{Guarantee: Approx{1, 1e-300}, Adjacency: Local, Unit: "person"},
		`{"definition":"approx","epsilon":1,"delta":1e-300,"adjacency":"local","unit":"person"}`, "ε = 1, δ = 1e-300 (approximate DP), local person"},
	{Statement{Guarantee: Geo(0.25), Metric: RMS, Distance: "m", Unit: "track"},
		`{"definition":"geo","epsilon":0.25,"metric":"rms","distance":"m","unit":"track"}`, "ε = 0.25 per unit of distance (geo-privacy), distance rms in m, track"},
	{Statement{Guarantee: ConcentratedGeo(2), Metric: L2, Unit: "track"},
		`{"definition":"concentrated-geo","rho":2,"metric":"l2","unit":"track"}`, "ρ = 2 per squared unit of distance (concentrated geo-privacy), distance l2, track"},
}

func TestStatementJSON(t *testing.T) {
	for _, c := range statements {
		data, err := json.Marshal(c.s)
		if err != nil {
			t.Fatal(err)
		}
		if string(data) != c.json {
			t.Errorf("wrote %s, want %s", data, c.json)
		}
		var back Statement
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if back != c.s {
			t.Errorf("read %#v, want %#v", back, c.s)
		}
		if got := c.s.String(); got != c.text {
			t.Errorf("String() = %q, want %q", got, c.text)
		}
		alone, err := MarshalGuarantee(c.s.Guarantee)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := UnmarshalGuarantee(alone); err != nil || g != c.s.Guarantee {
			t.Errorf("%s read as %v, %v", alone, g, err)
		}
	}
}

func TestStatementFloatsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Statement{Guarantee: GDP(magnitude(t, "mu")), Adjacency: ReplaceOne, Unit: "unit"}
		if rapid.Bool().Draw(t, "approx") {
			s.Guarantee = Approx{magnitude(t, "epsilon"), rapid.Float64Range(math.SmallestNonzeroFloat64, 1-0x1p-53).Draw(t, "delta")}
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Statement
		if err := json.Unmarshal(data, &back); err != nil || back != s {
			t.Fatalf("%s read as %#v, %v", data, back, err)
		}
	})
}

func TestStatementRefused(t *testing.T) {
	const good = `{"definition":"gdp","mu":1,"adjacency":"replace-one","unit":"patient"}`
	for _, c := range []struct{ data, want string }{
		{`null`, "not a JSON object"},
		{`[]`, "not a JSON object"},
		{``, ""},
		{`{"definition":"gdp"`, ""},
		{`{}`, `definition "" is not known`},
		{`{"definition":"rdp","mu":1,"adjacency":"replace-one","unit":"patient"}`, `definition "rdp" is not known`},
		{`{"definition":1,"mu":1,"adjacency":"replace-one","unit":"patient"}`, "write a text"},
		{strings.Replace(good, `"mu"`, `"Mu"`, 1), `without "mu"`},
		{strings.Replace(good, `"mu":1`, `"mu":1,"mu":1`, 1), "twice"},
		{strings.Replace(good, `"mu":1`, `"mu":"1"`, 1), "write a number"},
		{strings.Replace(good, `"mu":1`, `"mu":null`, 1), "number or a text"},
		{strings.Replace(good, `"mu":1`, `"mu":true`, 1), "number or a text"},
		{strings.Replace(good, `"mu":1`, `"mu":[1]`, 1), "number or a text"},
		{strings.Replace(good, `"mu":1`, `"mu":{"a":1}`, 1), "number or a text"},
		{strings.Replace(good, `"mu":1`, `"mu":0`, 1), "above zero"},
		{strings.Replace(good, `"mu":1`, `"mu":-0.0`, 1), "above zero"},
		{strings.Replace(good, `"mu":1`, `"mu":-1`, 1), "above zero"},
		{strings.Replace(good, `"mu":1`, `"mu":NaN`, 1), ""},
		{strings.Replace(good, `"mu":1`, `"mu":1e999`, 1), "no float64 holds"},
		{strings.Replace(good, `"mu":1`, `"mu":1e-999`, 1), "above zero"},
		{strings.Replace(good, `"mu":1`, `"mu":1,"rho":1`, 1), `"rho"`},
		{strings.Replace(good, `"mu":1`, `"mu":1,"delta":1e-6`, 1), `"delta"`},
		{strings.Replace(good, `"mu":1`, `"mu":1,"metric":"rms"`, 1), "adjacency, not a metric"},
		{strings.Replace(good, `"replace-one"`, `"bounded"`, 1), `adjacency "bounded" is not known`},
		{strings.Replace(good, `"replace-one"`, `""`, 1), "empty"},
		{`{"definition":"gdp","mu":1,"unit":"patient"}`, "adjacency"},
		{`{"definition":"gdp","mu":1,"adjacency":"replace-one"}`, "without a unit"},
		{strings.Replace(good, `"patient"`, `" patient"`, 1), "space"},
		{strings.Replace(good, `"patient"`, `"a\u0000b"`, 1), "control"},
		{strings.Replace(good, `"patient"`, `"\ud800"`, 1), "UTF-8"},
		{strings.Replace(good, `"patient"`, `"`+strings.Repeat("x", 300)+`"`, 1), "too long"},
		{`{"definition":"approx","epsilon":1,"delta":0,"adjacency":"replace-one","unit":"u"}`, "pure DP"},
		{`{"definition":"approx","epsilon":1,"delta":1,"adjacency":"replace-one","unit":"u"}`, "between 0 and 1"},
		{`{"definition":"approx","epsilon":-1,"delta":0.1,"adjacency":"replace-one","unit":"u"}`, "zero or above"},
		{`{"definition":"geo","epsilon":1,"adjacency":"replace-one","unit":"u"}`, "metric"},
		{`{"definition":"geo","epsilon":1,"metric":"rms","adjacency":"replace-one","unit":"u"}`, "not an adjacency"},
		{`{"definition":"geo","epsilon":1,"metric":"sup","unit":"u"}`, `metric "sup" is not known`},
	} {
		var s Statement
		err := json.Unmarshal([]byte(c.data), &s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.data, err, c.want)
		}
		if !reflect.DeepEqual(s, Statement{}) {
			t.Errorf("%s: refused, yet read as %v", c.data, s)
		}
	}
	var s Statement
	for _, data := range []string{good + "x", good + good} {
		if err := s.UnmarshalJSON([]byte(data)); err == nil {
			t.Errorf("%s was read", data)
		}
	}
	if err := s.UnmarshalJSON([]byte("{\"definition\":\"gdp\",\"mu\":1,\"adjacency\":\"replace-one\",\"unit\":\"\xff\"}")); err == nil {
		t.Error("text that is not UTF-8 was read")
	}
	for _, bad := range []Statement{{}, {Guarantee: GDP(math.NaN()), Adjacency: ReplaceOne, Unit: "u"}, {Guarantee: GDP(1), Unit: "u"}, {Guarantee: GDP(1), Adjacency: ReplaceOne}} {
		if data, err := json.Marshal(bad); err == nil {
			t.Errorf("%v was written as %s", bad, data)
		}
	}
	if _, err := MarshalGuarantee(nil); err == nil {
		t.Error("no guarantee was written")
	}
}

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, x := range []float64{0, -1, nan, inf, -inf} {
		for _, g := range []Guarantee{GDP(x), ZCDP(x), Pure(x), Geo(x), ConcentratedGeo(x), Approx{1, x}} {
			if g.Validate() == nil {
				t.Errorf("%v is accepted", g)
			}
			if _, err := GaussianMu(g); err == nil {
				t.Errorf("%v has a μ", g)
			}
		}
	}
	for _, g := range []Guarantee{Pure(1), Geo(1), ConcentratedGeo(1), nil} {
		if _, err := GaussianMu(g); err == nil {
			t.Errorf("%v has a μ", g)
		}
	}
	if _, err := GaussianMu(Pure(1)); !strings.Contains(err.Error(), "--epsilon") || !strings.Contains(err.Error(), "finite-dimensional") {
		t.Errorf("the error does not name the way out: %v", err)
	}
	if _, err := ClassicalMu(Approx{0, 0.1}, ClassicalRegression); err == nil {
		t.Error("a classical calibration at ε = 0")
	}
	if _, err := ClassicalMu(Approx{1, 0.1}, 0.05); err == nil {
		t.Error("a classical calibration with c below δ")
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		g    Guarantee
		want []string
	}{
		{GDP(1), []string{"μ stated", "ρ exact", "ε at δ = 1e-06 exact", "ε at δ = 0.01 exact"}},
		{ZCDP(0.5), []string{"ρ stated", "ε at δ = 1e-06 implied", "ε at δ = 0.01 implied"}},
		{Pure(1), []string{"ε stated", "μ exact", "ρ implied", "ε at δ = 1e-06 exact", "ε at δ = 0.01 exact"}},
		{Approx{1, 0.01}, []string{"ε at δ = 0.01 stated", "ε at δ = 1e-06 implied"}},
		{Geo(1), []string{"ε per unit of distance stated", "ρ per squared unit of distance implied"}},
		{ConcentratedGeo(1), []string{"ρ per squared unit of distance stated"}},
	} {
		var got []string
		for _, r := range Explain(c.g, 1e-6, 0.01, 0, 2) {
			got = append(got, r.Name+" "+r.Note)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v explained as %q, want %q", c.g, got, c.want)
		}
	}
	if rows := Explain(Approx{1, 0.01}, 1e-6); !math.IsInf(rows[1].Value, 1) {
		t.Errorf("(1, 0.01)-DP claims ε = %g at δ = 1e-6", rows[1].Value)
	}
}

func FuzzStatement(f *testing.F) {
	for _, c := range statements {
		f.Add([]byte(c.json))
	}
	f.Add([]byte(`{"definition":"approx","epsilon":0,"delta":5e-324,"adjacency":"local","unit":"\u00e9"}`))
	f.Add([]byte(`{"definition":"gdp","mu":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Statement
		if s.UnmarshalJSON(data) != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("%q was read as the invalid %v: %v", data, s, err)
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%q was read as %v, which cannot be written: %v", data, s, err)
		}
		var back Statement
		if err := json.Unmarshal(out, &back); err != nil || back != s {
			t.Fatalf("%q became %s became %v (%v)", data, out, back, err)
		}
	})
}
