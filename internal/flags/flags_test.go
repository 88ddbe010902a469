package flags

import (
	"errors"
	"testing"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
)

func TestSpell(t *testing.T) {
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	new(Input).Register(f)
	f.Float64("max-speed", 0, "")
	for in, want := range map[string]string{
		`name it in the id option, or set that to "-"`:      `name it in --id, or set that to "-"`,
		"name another column in the id or unit option":      "name another column in --id or --unit",
		"raise the max speed option, or the buffer option":  "raise --max-speed, or the buffer option",
		"Set the separator option":                          "Set --separator",
		"a wide file has its times in the header; no words": "a wide file has its times in the header; no words",
		"dataset: open x.csv: no such file":                 "open x.csv: no such file",
		"x.csv:3: mean: fit: no samples":                    "x.csv:3: no samples",
		"mean.csv:1: the mean: of all":                      "mean.csv:1: the mean: of all",
		"unknown flag: --sperator":                          "unknown flag: --sperator: is --separator meant?",
		"unknown flag: --quite-another":                     "unknown flag: --quite-another",
	} {
		if got := Spell(in, f); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestShorthand(t *testing.T) {
	for _, text := range []string{"-n", "--n"} {
		var m Mean
		f := pflag.NewFlagSet("x", pflag.ContinueOnError)
		m.Register(f)
		if err := f.Parse([]string{text, "93"}); err != nil || m.N != 93 {
			t.Errorf("%s: %d, %v", text, m.N, err)
		}
	}
}

// The errors of the call are usage errors, whatever they wrap, and name their flag.
func TestErrorsAreUsage(t *testing.T) {
	_, grid := Grid("--grid", "1:2:x")
	_, domain := Domain("--bounds", "2:1")
	_, list := List("--at", "1,two")
	_, center := Center("const:1,2", 3)
	people := CheckPeople(dataset.Schema{Layout: dataset.Long, Components: []string{"x"}}, dataset.Options{})
	points := new(Points).CheckPeople("rider")
	for _, err := range []error{grid, domain, list, center, people, points, Usage(errors.New("x"))} {
		var usage UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%v is no usage error", err)
		}
	}
	for flag, err := range map[string]error{"--grid": grid, "--bounds": domain, "--at": list, "--center": center} {
		if err == nil || err.Error()[:len(flag)] != flag {
			t.Errorf("%v does not name %s", err, flag)
		}
	}
	if err := CheckPeople(dataset.Schema{Layout: dataset.Long}, dataset.Options{ID: "-"}); err != nil {
		t.Error(err)
	}
	rows := new(Points)
	rows.O.Unit = "-"
	if err := rows.CheckPeople("rider"); err != nil {
		t.Error(err)
	}
}
