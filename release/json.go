// Reading JSON strictly. encoding/json checks the grammar; what it lets pass is
// refused here: duplicate keys, null, letters of the wrong case, numbers that
// are not finite, and input without end.

package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxInput = 64 << 20 // bytes
	maxDepth = 16
)

// readAll reads one JSON value and checks everything about it that does not
// depend on what it means.
func readAll(src io.Reader) (json.RawMessage, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("release: reading: %w", err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("release: more than %d bytes; a release is far smaller, is this the right file?", maxInput)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("release: the input is empty; expected a JSON object")
	}
	if !utf8.Valid(data) {
		return nil, errors.New("release: the input is not UTF-8 text; is this the right file?")
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var s *json.SyntaxError
		if errors.As(err, &s) {
			line, col := position(data, s.Offset)
			return nil, fmt.Errorf("release: line %d, column %d: not JSON, or cut short: %w", line, col, err)
		}
		return nil, fmt.Errorf("release: not JSON: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return raw, walk(dec, "", 0)
}

func position(data []byte, offset int64) (line, col int) {
	head := data[:min(int(offset), len(data))]
	return 1 + bytes.Count(head, []byte("\n")), len(head) - (bytes.LastIndexByte(head, '\n') + 1)
}

// walk refuses duplicate keys, null and deep nesting anywhere below path.
func walk(dec *json.Decoder, path string, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return &fault{path, err}
	}
	if tok == nil {
		return faultf(path, "null is no value here; leave the field out")
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return faultf(path, "nested deeper than %d levels", maxDepth)
	}
	seen := make(map[string]bool)
	for i := 0; dec.More(); i++ {
		below := path + "[" + strconv.Itoa(i) + "]"
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return &fault{path, err}
			}
			name := key.(string)
			below = path + "." + name
			if seen[name] {
				return faultf(path, "field %q is given twice", name)
			}
			seen[name] = true
		}
		if err := walk(dec, below, depth+1); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// object is a JSON object whose fields are taken one by one; what is left over
// at the end is unknown and refused.
type object struct {
	path   string
	fields map[string]json.RawMessage
}

func asObject(raw json.RawMessage, path string) (*object, error) {
	o := &object{path: path}
	if !strings.HasPrefix(strings.TrimSpace(string(raw)), "{") {
		return nil, faultf(path, "expected an object, found %s", kind(raw))
	}
	if err := json.Unmarshal(raw, &o.fields); err != nil {
		return nil, &fault{path, err}
	}
	return o, nil
}

func (o *object) take(name string) (json.RawMessage, bool) {
	raw, ok := o.fields[name]
	delete(o.fields, name)
	return raw, ok
}

// need takes a field that must be there and decodes it with parse.
func need[T any](o *object, name string, dst *T, parse func(json.RawMessage, string) (T, error)) error {
	raw, ok := o.take(name)
	if !ok {
		return faultf(o.path, "field %q is missing", name)
	}
	v, err := parse(raw, o.path+"."+name)
	*dst = v
	return err
}

// may takes a field that may be absent.
func may[T any](o *object, name string, dst *T, parse func(json.RawMessage, string) (T, error)) error {
	if _, ok := o.fields[name]; !ok {
		return nil
	}
	return need(o, name, dst, parse)
}

func (o *object) done(format string) error {
	var left []string
	for name := range o.fields {
		left = append(left, name)
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return faultf(o.path, "unknown field %q; %s", left[0], format)
}

func kind(raw json.RawMessage) string {
	switch s := strings.TrimSpace(string(raw)); {
	case s == "":
		return "nothing"
	case s[0] == '{':
		return "an object"
	case s[0] == '[':
		return "an array"
	case s[0] == '"':
		return "a string"
	case s[0] == 't' || s[0] == 'f':
		return s
	default:
		if len(s) > 40 {
			return "a number"
		}
		return s
	}
}

func asString(raw json.RawMessage, path string) (string, error) {
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", faultf(path, "expected a string, found %s", kind(raw))
	}
	return s, nil
}

func asBool(raw json.RawMessage, path string) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, faultf(path, "expected true or false, found %s", kind(raw))
}

func asInt(raw json.RawMessage, path string) (int64, error) {
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, faultf(path, "expected an integer below 2^63 without fraction or exponent, found %s", kind(raw))
	}
	return v, nil
}

func asFloat(raw json.RawMessage, path string) (float64, error) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return 0, faultf(path, "expected a number, found %s", kind(raw))
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, faultf(path, "%s is not a finite 64-bit number", kind(raw))
	}
	return v, nil
}

func asList[T any](parse func(json.RawMessage, string) (T, error), most int) func(json.RawMessage, string) ([]T, error) {
	return func(raw json.RawMessage, path string) ([]T, error) {
		if raw[0] != '[' {
			return nil, faultf(path, "expected an array, found %s", kind(raw))
		}
		if n := bytes.Count(raw, []byte(",")); n > 2*maxCoefficients {
			return nil, faultf(path, "%d numbers; a release is far smaller", n)
		}
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, &fault{path, err}
		}
		if len(items) > most {
			return nil, faultf(path, "%d entries, at most %d are accepted", len(items), most)
		}
		list := make([]T, len(items))
		for i, item := range items {
			v, err := parse(item, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
}

var (
	asFloats  = asList(asFloat, maxCoefficients)
	asMatrix  = asList(asFloats, maxCoefficients)
	asStrings = asList(asString, maxComponents)
)
