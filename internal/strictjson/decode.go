package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Decode fills a struct from one JSON value: no field that it does not know, nothing after the end. It is what parameters
// need that the same program wrote; subject begins every error text.
func Decode(subject string, data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%s: more text after their end", subject)
	}
	return nil
}
