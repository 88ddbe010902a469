package regression

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// ID names a report, so that repeats of it are applied once. The client draws it.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

func newID(src *noise.Source) (id ID) {
	for i := range id {
		if i%8 == 0 {
			w := src.Uint64()
			for j := range 8 {
				id[i+j] = byte(w >> (8 * j))
			}
		}
	}
	return id
}

// Report is all that leaves a person's device: a noisy gradient. Everything in it is private or public.
type Report struct {
	ID     ID
	Stream Fingerprint
	// At is the version of the model that the gradient was taken at.
	At int64
	// Budget is (ε,δ) of this report.
	Budget privacy.Approx
	// Private is false when the noise came from a seeded source: a demonstration, which anybody can undo.
	Private bool
	// Coordinates are those of the noisy gradient, in steps of the lattice of the ball of radius τB.
	Coordinates []int64
}

// MarshalJSON writes {"curveil":"regression-report","version":1,"id":"…","stream":"…","at":n,"epsilon":ε,"delta":δ,
// "private":true,"coordinates":[…]}, always in this order: a retry sends the same bytes.
func (r Report) MarshalJSON() ([]byte, error) {
	if !finite(r.Budget.Epsilon) || !finite(r.Budget.Delta) {
		return nil, fmt.Errorf("regression: report: %w", r.Budget.Validate())
	}
	return r.append(make([]byte, 0, 256+12*len(r.Coordinates))), nil
}

// The text between the values.
var reportParts = [...]string{
	`{"curveil":"` + reportName + `","version":1,"id":"`, `","stream":"`, `","at":`, `,"epsilon":`, `,"delta":`, `,"private":`, `,"coordinates":[`, `]}`,
}

func (r *Report) append(b []byte) []byte {
	p := &reportParts
	b = hex.AppendEncode(append(b, p[0]...), r.ID[:])
	b = hex.AppendEncode(append(b, p[1]...), r.Stream[:])
	b = strconv.AppendInt(append(b, p[2]...), r.At, 10)
	b = appendFloat(append(b, p[3]...), r.Budget.Epsilon)
	b = appendFloat(append(b, p[4]...), r.Budget.Delta)
	b = strconv.AppendBool(append(b, p[5]...), r.Private)
	b = append(b, p[6]...)
	for j, k := range r.Coordinates {
		if j > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, k, 10)
	}
	return append(b, p[7]...)
}

func appendFloat(b []byte, v float64) []byte {
	if v != 0 && (v < 1e-6 || v >= 1e21) {
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// quick reads a report that was written by append: it guesses the values from where they should be, and believes them only if
// append writes the very same bytes for them.
func (r *Report) quick(data []byte) bool {
	var values [7][]byte
	rest, ok := bytes.CutPrefix(data, []byte(reportParts[0]))
	for i := range values {
		if ok {
			values[i], rest, ok = bytes.Cut(rest, []byte(reportParts[i+1]))
		}
	}
	if !ok || len(rest) != 0 || len(values[0]) != 2*len(r.ID) || len(values[1]) != 2*len(r.Stream) || bytes.Count(values[6], []byte{','}) >= maxDim {
		return false
	}
	var errs [6]error
	_, errs[0] = hex.Decode(r.ID[:], values[0])
	_, errs[1] = hex.Decode(r.Stream[:], values[1])
	r.At, errs[2] = strconv.ParseInt(string(values[2]), 10, 64)
	r.Budget.Epsilon, errs[3] = strconv.ParseFloat(string(values[3]), 64)
	r.Budget.Delta, errs[4] = strconv.ParseFloat(string(values[4]), 64)
	r.Private, errs[5] = strconv.ParseBool(string(values[5]))
	for _, err := range errs {
		if err != nil {
			return false
		}
	}
	r.Coordinates = make([]int64, 0, 1+bytes.Count(values[6], []byte{','}))
	for more := len(values[6]) > 0; more; {
		var number []byte
		number, values[6], more = bytes.Cut(values[6], []byte{','})
		k, err := strconv.ParseInt(string(number), 10, 64)
		if err != nil {
			return false
		}
		r.Coordinates = append(r.Coordinates, k)
	}
	return bytes.Equal(data, r.append(make([]byte, 0, len(data))))
}

// UnmarshalJSON reads what MarshalJSON writes, strictly: whole numbers for coordinates, no field unknown, missing, repeated or
// null. Whether the report fits a stream is for [Server.Check].
func (r *Report) UnmarshalJSON(data []byte) error {
	var out Report
	if !out.quick(data) {
		out = Report{}
		if err := out.slow(data); err != nil {
			return err
		}
	}
	if out.At < 0 {
		return fmt.Errorf("regression: report refers to version %d of the model: versions begin with 0", out.At)
	}
	if err := out.Budget.Validate(); err != nil {
		return fmt.Errorf("regression: report: %w", err)
	}
	*r = out
	return nil
}

func (r *Report) slow(data []byte) error {
	o, err := readFormat(reportName, data)
	if err != nil {
		return err
	}
	if err := takeHex(o, "id", r.ID[:]); err != nil {
		return err
	}
	if err := takeHex(o, "stream", r.Stream[:]); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"at", &r.At}, {"epsilon", &r.Budget.Epsilon}, {"delta", &r.Budget.Delta}, {"private", &r.Private}} {
		if err := o.Take(f.name, f.to); err != nil {
			return err
		}
	}
	if err := o.TakeList("coordinates", &r.Coordinates, maxDim); err != nil {
		return err
	}
	return o.Done()
}

func takeHex(o *strictjson.Object, name string, to []byte) error {
	var text string
	if err := o.Take(name, &text); err != nil {
		return err
	}
	if len(text) != 2*len(to) || text != lower(text) {
		return fmt.Errorf("regression: %s %q must be %d lower-case hexadecimal digits", name, clip(text), 2*len(to))
	}
	if _, err := hex.Decode(to, []byte(text)); err != nil {
		return fmt.Errorf("regression: %s %q must be %d lower-case hexadecimal digits", name, clip(text), 2*len(to))
	}
	return nil
}

func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'F' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
