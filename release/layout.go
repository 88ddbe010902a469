// Writing JSON for people: whatever fits on a line stays on it.

package release

import (
	"bytes"
	"encoding/json"
	"strings"
)

const width = 100 // of an output line

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
