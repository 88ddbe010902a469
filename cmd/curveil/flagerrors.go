package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// kinds are what a flag of each type takes.
var kinds = map[string]string{
	"float64": "a number with a decimal point, such as 2.5", "float64Slice": "a number, or several with commas between them",
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number of 0 or more", "intSlice": "a whole number, or several with commas between them",
	"bool": "true or false", "duration": "a time such as 30s, 5m or 1h",
}

// flagSentence says in words what the parser of flags could not read.
func flagSentence(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	f := bad.GetFlag()
	want, known := kinds[f.Value.Type()]
	if !known {
		return err
	}
	hint := ""
	if _, span := time.ParseDuration(bad.GetValue()); span == nil && f.Value.Type() != "duration" {
		hint = ", without a unit"
	}
	if strings.Contains(err.Error(), "out of range") {
		want += ", and not as large or small as that"
	}
	return fmt.Errorf("--%s %q: it takes %s%s", f.Name, bad.GetValue(), want, hint)
}
