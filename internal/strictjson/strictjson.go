// Package strictjson reads one JSON object strictly: every field once, spelled exactly, none missing, none left
// over, no null, valid UTF-8, nothing after the end. encoding/json alone would match names in any case, take the
// last of repeated fields, and read null as 0.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Object holds the fields not taken yet.
type Object struct {
	subject string // begins every error
	fields  map[string]json.RawMessage
}

// Read reads the object; subject begins every error text, as in "regression: model".
func Read(subject string, data []byte) (*Object, error) {
	o := &Object{subject: subject, fields: map[string]json.RawMessage{}}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: not UTF-8 text", subject)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("%s: not JSON, or cut short: %w", subject, err)
	} else if tok != json.Delim('{') {
		return nil, fmt.Errorf("%s: expected a JSON object, found %s", subject, kind(tok))
	}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: not JSON, or cut short: %w", subject, err)
		}
		name, _ := tok.(string)
		if _, twice := o.fields[name]; twice {
			return nil, fmt.Errorf("%s: field %q occurs twice: remove one", subject, name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: field %q: not JSON, or cut short: %w", subject, name, err)
		}
		o.fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("%s: not JSON, or cut short: %w", subject, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: there is more after the end of the object: give one object", subject)
	}
	return o, nil
}

// Has reports whether the field is there and not taken yet.
func (o *Object) Has(name string) bool {
	_, ok := o.fields[name]
	return ok
}

// Raw takes a field that must be there, undecoded.
func (o *Object) Raw(name string) (json.RawMessage, error) {
	value, ok := o.fields[name]
	if !ok {
		return nil, fmt.Errorf("%s: field %q is missing", o.subject, name)
	}
	delete(o.fields, name)
	if bytes.Equal(value, []byte("null")) || value[0] == '[' && bytes.Contains(value, []byte("null")) {
		return nil, fmt.Errorf("%s: field %q holds null: give a value", o.subject, name)
	}
	return value, nil
}

// Take decodes a field that must be there: a string, a boolean, a number, or a list of numbers.
func (o *Object) Take(name string, to any) error {
	value, err := o.Raw(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("%s: field %q: %w", o.subject, name, inWords(err))
	}
	return nil
}

// TakeList is Take for a list of numbers of at most the given length; it counts before it allocates.
func (o *Object) TakeList(name string, to any, most int) error {
	if n := bytes.Count(o.fields[name], []byte{','}) + 1; n > most {
		return fmt.Errorf("%s: field %q has %d numbers: at most %d are accepted", o.subject, name, n, most)
	}
	return o.Take(name, to)
}

// Done refuses fields that were not taken.
func (o *Object) Done() error {
	if len(o.fields) == 0 {
		return nil
	}
	var names []string
	for name := range o.fields {
		names = append(names, fmt.Sprintf("%q", name))
	}
	slices.Sort(names)
	return fmt.Errorf("%s: unknown field %s: remove it, or read it with the version of curveil that wrote it", o.subject, strings.Join(names, ", "))
}

// kind is what JSON calls a value that begins with the token.
func kind(tok json.Token) string {
	switch tok.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case json.Delim:
		return "a list"
	}
	return "a number"
}

// inWords says what is wrong with a value without Go's names of types, which who sent it need not know.
func inWords(err error) error {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return err
	}
	want := "another kind of value"
	switch e.Type.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		want = fmt.Sprintf("a whole number that fits into %d bits", e.Type.Bits())
	case reflect.Float32, reflect.Float64:
		want = "a number in the range of a float64"
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	case reflect.Slice, reflect.Array:
		want = "a list"
	case reflect.Struct, reflect.Map:
		want = "an object"
	}
	return fmt.Errorf("found %s where %s belongs", e.Value, want)
}
