package strictjson

import (
	"strings"
	"testing"
)

// Whoever sent the text reads of numbers and lists, not of Go's types.
func TestErrorsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"null": "found null", `"a"`: "found a string", "[1]": "found a list", "3": "found a number", "true": "found true or false",
	} {
		if _, err := Read("x", []byte(text)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, c := range []struct {
		text string
		to   any
		want string
	}{
		{`1.5`, new(int64), `field "a": found number 1.5 where a whole number that fits into 64 bits belongs`},
		{`[1, 0.5]`, new([]int64), "found number 0.5 where a whole number"},
		{`"a"`, new(float64), "found string where a number"},
		{`1e999`, new(float64), "found number 1e999 where a number in the range"},
		{`1`, new(string), "where a string"}, {`1`, new(bool), "where true or false"}, {`1`, new([]int64), "where a list"},
	} {
		o, err := Read("x", []byte(`{"a":`+c.text+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Take("a", c.to); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Go") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
