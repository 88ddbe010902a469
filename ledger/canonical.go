package ledger

// Texts that go into the chain: names without surprises, and JSON with one spelling.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName       = 200       // bytes of a data set's name, a person, a verb
	maxParameters = 64 * 1024 // bytes of a debit's parameters
)

func checkName(what, s string) error {
	switch {
	case s == "":
		return refused("ledger: %s is empty: give it", what)
	case len(s) > maxName:
		return refused("ledger: %s of %d bytes is too long: use at most %d", what, len(s), maxName)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }):
		return refused("ledger: %s %q has a control character or is not UTF-8: use plain text", what, s)
	case strings.TrimSpace(s) != s:
		return refused("ledger: %s %q begins or ends with a space: remove it", what, s)
	}
	return nil
}

// canonical returns v as JSON with sorted object keys, no white space, numbers as they were written, and no escapes that
// JSON does not need.
func canonical(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return "", err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// canonicalParameters returns the parameters of a debit, {} for nil; they must be a JSON object.
func canonicalParameters(v any) (string, error) {
	if v == nil {
		return "{}", nil
	}
	text, err := canonical(v)
	if err != nil {
		return "", fmt.Errorf("ledger: parameters cannot be written as JSON: %w", err)
	}
	if !strings.HasPrefix(text, "{") {
		return "", errors.New("ledger: parameters are not a JSON object: give a struct or a map")
	}
	if len(text) > maxParameters {
		return "", fmt.Errorf("ledger: parameters of %d bytes are too long: use at most %d, and no data", len(text), maxParameters)
	}
	return text, nil
}
