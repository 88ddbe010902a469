// Reading JSON strictly. encoding/json checks the grammar; what it lets pass is
// refused here: duplicate keys, null, letters of the wrong case, numbers that
// are not finite, and input without end. Writing it readably: whatever fits on
// a line stays on it.

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
	width    = 100 // of an output line
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

// layout rewrites compact JSON for people: a value that fits stays on its line,
// arrays of numbers are filled to the width, anything else opens a level.
func layout(dst *bytes.Buffer, raw json.RawMessage, indent, used int) error {
	if used+len(raw) <= width && !bytes.ContainsAny(raw[1:], "{") {
		spaced(dst, raw)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	open, err := dec.Token()
	if err != nil {
		return err
	}
	delim, ok := open.(json.Delim)
	if !ok {
		dst.Write(raw)
		return nil
	}
	margin := "\n" + strings.Repeat("  ", indent+1)
	dst.WriteByte(raw[0])
	column := width + 1 // forces the first break
	for first := true; dec.More(); first = false {
		var name string
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			text, err := json.Marshal(key)
			if err != nil {
				return err
			}
			name = string(text) + ": "
		}
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		if !first {
			dst.WriteByte(',')
		}
		scalar := delim == '[' && item[0] != '[' && item[0] != '{'
		if scalar && column+2+len(item) <= width {
			dst.WriteByte(' ')
			column += 2 + len(item)
		} else {
			dst.WriteString(margin)
			column = len(margin) - 1 + len(item)
		}
		dst.WriteString(name)
		if err := layout(dst, item, indent+1, len(margin)+len(name)); err != nil {
			return err
		}
	}
	dst.WriteString(margin[:len(margin)-2])
	dst.WriteByte(raw[len(raw)-1])
	return nil
}

// spaced writes compact JSON with a space after each comma and colon outside
// strings.
func spaced(dst *bytes.Buffer, raw []byte) {
	quoted, escaped := false, false
	for _, c := range raw {
		dst.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ':'):
			dst.WriteByte(' ')
		}
	}
}
