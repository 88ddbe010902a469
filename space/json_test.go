package space

import (
	"math"
	"runtime"
	"strings"
	"testing"
)

const smallKernel = `{"kind":"kernel","kernel":"gauss","scale":0.2,"floor":1e-8,"domain":[0,1],"grid":[0.5],"factor":[[1]]}`

func TestUnmarshalForms(t *testing.T) {
	for form, text := range map[string]string{
		`{"kind":"legendre","dim":6,"domain":[0,1]}`:            "legendre:6",
		` {"domain":[0,1], "dim":9, "kind":"fourier"} `:         "fourier:9",
		`{"kind":"cosine","dim":8,"domain":[-1,2e3]}`:           "cosine:8",
		`{"kind":"bspline","dim":12,"degree":2,"domain":[0,1]}`: "bspline:12:degree=2",
		smallKernel: "kernel:gauss:0.2:1",
	} {
		s, err := Unmarshal([]byte(form))
		if err != nil {
			t.Errorf("%s: %v", form, err)
		} else if s.String() != text {
			t.Errorf("%s is %v, want %s", form, s, text)
		}
	}
}

func TestUnmarshalRefused(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(smallKernel, old) {
			t.Fatalf("%s is not in the form", old)
		}
		return strings.Replace(smallKernel, old, new, 1)
	}
	many := strings.Repeat("0,", 5000) + "0"
	for form, say := range map[string]string{
		``:     "json",
		`null`: "object",
		`[]`:   "object",
		`7`:    "object",
		`{"kind":"legendre","dim":6,"domain":[0,1]`:                                       "json",
		`{"kind":"legendre","dim":6,"domain":[0,1]} x`:                                    "after the end",
		`{"kind":"legendre","dim":6,"domain":[0,1]}{}`:                                    "after the end",
		`{"dim":6,"domain":[0,1]}`:                                                        `"kind" is missing`,
		`{"kind":"legendre","dim":6}`:                                                     `"domain" is missing`,
		`{"kind":"legendre","domain":[0,1]}`:                                              `"dim" is missing`,
		`{"Kind":"legendre","dim":6,"domain":[0,1]}`:                                      `"kind" is missing`,
		`{"kind":"legendre","dim":6,"Dim":7,"domain":[0,1]}`:                              `no field "Dim"`,
		`{"kind":"legendre","dim":6,"dim":6,"domain":[0,1]}`:                              "twice",
		`{"kind":"legendre","dim":6,"domain":[0,1],"degree":3}`:                           `no field "degree"`,
		`{"kind":"wavelet","dim":6,"domain":[0,1]}`:                                       "bspline, cosine, fourier, legendre, kernel, piecewise",
		`{"kind":"legendre","dim":6.5,"domain":[0,1]}`:                                    `"dim"`,
		`{"kind":"legendre","dim":"6","domain":[0,1]}`:                                    `"dim"`,
		`{"kind":"legendre","dim":null,"domain":[0,1]}`:                                   "null",
		`{"kind":null,"dim":6,"domain":[0,1]}`:                                            "null",
		`{"kind":"legendre","dim":0,"domain":[0,1]}`:                                      "at least 1",
		`{"kind":"legendre","dim":1000000000,"domain":[0,1]}`:                             "at most 4096",
		`{"kind":"legendre","dim":1e30,"domain":[0,1]}`:                                   `"dim"`,
		`{"kind":"fourier","dim":8,"domain":[0,1]}`:                                       "odd",
		`{"kind":"bspline","dim":12,"domain":[0,1]}`:                                      `"degree" is missing`,
		`{"kind":"bspline","dim":12,"degree":0,"domain":[0,1]}`:                           "degree 0",
		`{"kind":"legendre","dim":6,"domain":[0]}`:                                        "[start, end]",
		`{"kind":"legendre","dim":6,"domain":[]}`:                                         "[start, end]",
		`{"kind":"legendre","dim":6,"domain":[0,1,2]}`:                                    "at most 2",
		`{"kind":"legendre","dim":6,"domain":[null,1]}`:                                   "null",
		`{"kind":"legendre","dim":6,"domain":[0,1e999]}`:                                  `"domain"`,
		`{"kind":"legendre","dim":6,"domain":[1,0]}`:                                      "did you mean",
		`{"kind":"legendre","dim":6,"domain":[NaN,1]}`:                                    "json",
		change(`"gauss"`, `"rbf"`):                                                        "unknown kernel",
		change(`"scale":0.2,`, ``):                                                        "above 0",
		change(`0.2`, `-0.2`):                                                             "above 0",
		change(`0.2`, `0.2,"relative":1`):                                                 `"relative"`,
		change(`"floor":1e-8,`, ``):                                                       `"floor" is missing`,
		change(`1e-8`, `1`):                                                               "below 1",
		change(`[0.5]`, `[]`):                                                             "no points",
		change(`[0.5]`, `[1.5]`):                                                          "outside",
		change(`[0.5]`, `[0.5,0.5]`):                                                      "twice",
		change(`[0.5]`, `null`):                                                           "null",
		change(`[0.5]`, `[`+many+`]`):                                                     "5001 numbers",
		change(`,"factor":[[1]]`, ``):                                                     `"factor" is missing`,
		change(`[[1]]`, `[]`):                                                             "0 rows",
		change(`[[1]]`, `1`):                                                              "rows",
		change(`[[1]]`, `[[]]`):                                                           "0 columns",
		change(`[[1]]`, `[[1],[1]]`):                                                      "2 rows",
		change(`[[1]]`, `[[1,0]]`):                                                        "2 numbers",
		change(`[[1]]`, `[["[",1]]`):                                                      "rows",
		change(`[[1]]`, `[[`+many+`]]`):                                                   "5001 numbers",
		change(`[[1]]`, `[[null]]`):                                                       "null",
		change(`[[1]]`, `[[1.001]]`):                                                      "not orthonormal",
		change(`[[1]]`, `[[0]]`):                                                          "not orthonormal",
		change(`[[1]]`, `[[1e200]]`):                                                      "not orthonormal",
		change(`[[1]]`, `[[1e8]]`):                                                        "not orthonormal",
		change(`[0.5],"factor":[[1]]`, `[0.1,0.9],"factor":[[1,0],[0]]`):                  "row 2",
		change(`"kernel":"gauss","scale":0.2`, `"kernel":"brownian","scale":2`):           "takes no scale",
		change(`"kernel":"gauss","scale":0.2`, `"kernel":"gauss","scale":0.2,"points":1`): `no field "points"`,
	} {
		s, err := Unmarshal([]byte(form))
		refused(t, form[:min(len(form), 100)], s, err, say)
	}
}

// Changing one number of a factor is noticed.
func TestDamagedFactorRefused(t *testing.T) {
	for _, text := range []string{"kernel:gauss:20%", "kernel:matern32:20%", "kernel:brownian"} {
		s, err := Parse(text, Interval{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		k := s.(*KernelSpace)
		for i := 0; i < len(k.factor); i += 97 {
			before := k.factor[i]
			k.factor[i] += 0.01 * math.Abs(k.factor[i])
			form, _ := s.MarshalJSON()
			if math.Abs(before) > 1e-3 {
				back, err := Unmarshal(form)
				refused(t, text, back, err, "changed or damaged")
			}
			k.factor[i] = before
		}
	}
}

// A short text cannot make the decoder allocate much.
func TestUnmarshalAllocatesLittle(t *testing.T) {
	for _, form := range []string{
		`{"kind":"legendre","dim":2000000000,"domain":[0,1]}`,
		`{"kind":"bspline","dim":2000000000,"degree":3,"domain":[0,1]}`,
		`{"kind":"bspline","dim":4096,"degree":2000000000,"domain":[0,1]}`,
		strings.Replace(smallKernel, "[0.5]", "["+strings.Repeat("0,", 1<<20)+"0]", 1),
		strings.Replace(smallKernel, "[[1]]", strings.Repeat("[", 1<<20), 1),
		strings.Replace(smallKernel, "[[1]]", "[["+strings.Repeat("0,", 1<<20)+"0]]", 1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := Unmarshal([]byte(form))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%v was accepted", s)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(20*len(form)+1<<16) {
			t.Errorf("%d bytes were allocated for a form of %d", used, len(form))
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, text := range everySpace {
		s, err := Parse(text, Interval{0, 1})
		if err != nil {
			f.Fatal(err)
		}
		if form, err := s.MarshalJSON(); err == nil && len(form) < 4000 {
			f.Add(form)
		}
	}
	f.Add([]byte(smallKernel))
	f.Fuzz(func(t *testing.T, form []byte) {
		s, err := Unmarshal(form)
		if err != nil {
			if s != nil || !strings.HasPrefix(err.Error(), "space: ") {
				t.Errorf("%v, %v", s, err)
			}
			return
		}
		again, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unmarshal(again)
		if err != nil || !Equal(s, back) {
			t.Fatalf("%s became %s became %v, %v", form, again, back, err)
		}
		d := s.Domain()
		for _, x := range []float64{d.A, d.B, d.A + d.Length()/3} {
			if b := s.Bound(x); math.IsNaN(b) || math.IsInf(b, 0) || b < 0 {
				t.Fatalf("%s: Bound(%v) = %v", form, x, b)
			}
		}
	})
}
