package privacy

// The JSON of guarantees and statements, written and read field by field: encoding/json alone accepts repeated and misspelt
// names.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"
)

// parameters are the JSON names of a definition's numbers, in order.
var parameters = map[string][]string{
	"gdp":              {"mu"},
	"zcdp":             {"rho"},
	"pure":             {"epsilon"},
	"approx":           {"epsilon", "delta"},
	"geo":              {"epsilon"},
	"concentrated-geo": {"rho"},
}

// values returns the numbers of g in the order of parameters.
func values(g Guarantee) []float64 {
	switch g := g.(type) {
	case GDP:
		return []float64{float64(g)}
	case ZCDP:
		return []float64{float64(g)}
	case Pure:
		return []float64{float64(g)}
	case Approx:
		return []float64{g.Epsilon, g.Delta}
	case Geo:
		return []float64{float64(g)}
	case ConcentratedGeo:
		return []float64{float64(g)}
	}
	panic(fmt.Sprintf("privacy: guarantee of unknown type %T", g))
}

func build(definition string, v []float64) Guarantee {
	switch definition {
	case "gdp":
		return GDP(v[0])
	case "zcdp":
		return ZCDP(v[0])
	case "pure":
		return Pure(v[0])
	case "approx":
		return Approx{v[0], v[1]}
	case "geo":
		return Geo(v[0])
	case "concentrated-geo":
		return ConcentratedGeo(v[0])
	}
	panic("privacy: definition " + definition + " has parameters but no type")
}

// MarshalJSON writes for instance {"definition":"gdp","mu":1,"adjacency":"replace-one","unit":"patient"}. An invalid
// statement is refused.
func (s Statement) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"definition":%q`, s.Guarantee.Definition())
	writeNumbers(&b, s.Guarantee)
	for _, f := range [][2]string{{"adjacency", string(s.Adjacency)}, {"metric", string(s.Metric)}, {"distance", s.Distance}, {"unit", s.Unit}} {
		if f[1] == "" {
			continue
		}
		quoted, err := json.Marshal(f[1])
		if err != nil {
			return nil, fmt.Errorf("privacy: %s %q: %w", f[0], f[1], err)
		}
		fmt.Fprintf(&b, ",%q:%s", f[0], quoted)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func writeNumbers(b *bytes.Buffer, g Guarantee) {
	for i, name := range parameters[g.Definition()] {
		fmt.Fprintf(b, ",%q:%s", name, strconv.FormatFloat(values(g)[i], 'g', -1, 64))
	}
}

// UnmarshalJSON reads what MarshalJSON writes, fields in any order. It refuses unknown, repeated, misspelt and missing
// fields, parameters of another definition, numbers out of range, and text that is not UTF-8.
func (s *Statement) UnmarshalJSON(data []byte) error {
	fields, err := readFields(data)
	if err != nil {
		return err
	}
	g, err := takeGuarantee(fields)
	if err != nil {
		return err
	}
	out := Statement{Guarantee: g}
	for name, dst := range map[string]func(string){
		"adjacency": func(v string) { out.Adjacency = Adjacency(v) },
		"metric":    func(v string) { out.Metric = Metric(v) },
		"distance":  func(v string) { out.Distance = v },
		"unit":      func(v string) { out.Unit = v },
	} {
		v, ok, err := takeText(fields, name)
		if err != nil {
			return err
		}
		if ok {
			dst(v)
		}
	}
	if err := nothingLeft(fields); err != nil {
		return err
	}
	if err := out.Validate(); err != nil {
		return err
	}
	*s = out
	return nil
}

// MarshalGuarantee writes a guarantee alone, such as {"definition":"gdp","mu":1}. An invalid one is refused.
func MarshalGuarantee(g Guarantee) ([]byte, error) {
	if g == nil {
		return nil, errors.New("privacy: no guarantee to write")
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"definition":%q`, g.Definition())
	writeNumbers(&b, g)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalGuarantee reads what MarshalGuarantee writes, as strictly as Statement does.
func UnmarshalGuarantee(data []byte) (Guarantee, error) {
	fields, err := readFields(data)
	if err != nil {
		return nil, err
	}
	g, err := takeGuarantee(fields)
	if err != nil {
		return nil, err
	}
	if err := nothingLeft(fields); err != nil {
		return nil, err
	}
	return g, g.Validate()
}

// readFields reads one flat JSON object of strings and numbers.
func readFields(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("privacy: guarantee is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("privacy: guarantee is not a JSON object: write for instance {\"definition\":\"gdp\",\"mu\":1,\"adjacency\":\"replace-one\",\"unit\":\"patient\"}")
	}
	fields := map[string]any{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("privacy: guarantee is not JSON: %w", err)
		}
		name := key.(string)
		if _, ok := fields[name]; ok {
			return nil, fmt.Errorf("privacy: guarantee has the field %q twice: keep one", name)
		}
		value, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("privacy: guarantee is not JSON after %q: %w", name, err)
		}
		switch value.(type) {
		case string, json.Number:
		default:
			return nil, fmt.Errorf("privacy: guarantee has %v in the field %q: write a number or a text", value, name)
		}
		fields[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("privacy: guarantee is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("privacy: guarantee is followed by more text: remove it")
	}
	return fields, nil
}

func takeGuarantee(fields map[string]any) (Guarantee, error) {
	definition, ok, err := takeText(fields, "definition")
	if err != nil {
		return nil, err
	}
	names, known := parameters[definition]
	if !ok || !known {
		return nil, fmt.Errorf("privacy: definition %q is not known: use gdp, zcdp, pure, approx, geo or concentrated-geo", definition)
	}
	v := make([]float64, len(names))
	for i, name := range names {
		raw, ok := fields[name]
		if !ok {
			return nil, fmt.Errorf("privacy: a %s guarantee without %q: give it", definition, name)
		}
		number, ok := raw.(json.Number)
		if !ok {
			return nil, fmt.Errorf("privacy: %q of a %s guarantee is the text %q: write a number", name, definition, raw)
		}
		if v[i], err = strconv.ParseFloat(string(number), 64); err != nil {
			return nil, fmt.Errorf("privacy: %q of a %s guarantee is %s, which no float64 holds: write a smaller number", name, definition, number)
		}
		delete(fields, name)
	}
	return build(definition, v), nil
}

func takeText(fields map[string]any, name string) (string, bool, error) {
	raw, ok := fields[name]
	if !ok {
		return "", false, nil
	}
	delete(fields, name)
	s, ok := raw.(string)
	if !ok {
		return "", false, fmt.Errorf("privacy: %q of a guarantee is the number %v: write a text in quotes", name, raw)
	}
	if s == "" {
		return "", false, fmt.Errorf("privacy: %q of a guarantee is empty: leave it out or fill it", name)
	}
	return s, true, nil
}

func nothingLeft(fields map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("privacy: guarantee has a field %q that its definition does not know: remove it", names[0])
}
