// Strict reading of one JSON object: every field once, spelled exactly, none missing, none left over.
// encoding/json alone would match field names in any case, take the last of repeated ones, and read null
// as 0.

package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

type object map[string]json.RawMessage

func objectFields(data []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if tok, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("space: json: %w", err)
	} else if tok != json.Delim('{') {
		return nil, fmt.Errorf("space: json: the form of a space is an object with a kind, not %v", tok)
	}
	fields := object{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("space: json: %w", err)
		}
		name, _ := tok.(string)
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("space: json: field %q occurs twice: remove one", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("space: json: field %q: %w", name, err)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("space: json: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("space: json: there is more after the end of the object: give one object")
	}
	return fields, nil
}

func (o object) has(name string) bool {
	_, ok := o[name]
	return ok
}

func (o object) take(name string, to any) error {
	value, ok := o[name]
	if !ok {
		return fmt.Errorf("space: json: field %q is missing", name)
	}
	delete(o, name)
	if bytes.Contains(value, []byte("null")) {
		return fmt.Errorf("space: json: field %q holds null: give a value", name)
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("space: json: field %q: %w", name, err)
	}
	return nil
}

// takeFloats counts before it allocates.
func (o object) takeFloats(name string, to *[]float64, most int) error {
	if n := bytes.Count(o[name], []byte{','}) + 1; n > most {
		return fmt.Errorf("space: json: field %q has %d numbers: at most %d are allowed", name, n, most)
	}
	return o.take(name, to)
}

// takeFactor reads T rows of equal length 1…T into the factor; it counts before it allocates.
func (o object) takeFactor(s *KernelSpace) error {
	n := len(s.grid.T)
	if rows := bytes.Count(o["factor"], []byte{'['}) - 1; rows != n && o.has("factor") {
		return fmt.Errorf("space: json: factor has %d rows: it needs one for each of the %d grid points", rows, n)
	}
	if numbers := bytes.Count(o["factor"], []byte{','}) + 1; numbers > n*n {
		return fmt.Errorf("space: json: factor has %d numbers: a grid of %d points has at most %d", numbers, n, n*n)
	}
	var rows [][]float64
	if err := o.take("factor", &rows); err != nil {
		return err
	}
	if len(rows) != n {
		return fmt.Errorf("space: json: factor has %d rows: it needs one for each of the %d grid points", len(rows), n)
	}
	s.dim = len(rows[0])
	if s.dim < 1 || s.dim > n {
		return fmt.Errorf("space: json: factor has %d columns: a grid of %d points has between 1 and %d", s.dim, n, n)
	}
	s.factor = make([]float64, 0, n*s.dim)
	for j, row := range rows {
		if len(row) != s.dim {
			return fmt.Errorf("space: json: row %d of factor has %d numbers, row 1 has %d: they must be equally long", j+1, len(row), s.dim)
		}
		s.factor = append(s.factor, row...)
	}
	return nil
}

func (o object) rest(kind string) error {
	if len(o) == 0 {
		return nil
	}
	var names []string
	for name := range o {
		names = append(names, fmt.Sprintf("%q", name))
	}
	slices.Sort(names)
	return fmt.Errorf("space: json: a %s space has no field %s: remove it, or read it with the version of curveil that wrote it", kind, strings.Join(names, ", "))
}
