package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A WFDB record of private values in format 16. The gain follows from the
// private values only, so it tells nothing more of the curve than they do.

type wfdbOutput struct {
	path         string // of the signal file
	header, data []byte
}

var recordName = regexp.MustCompile(`^[-A-Za-z0-9_]+$`)

func checkRecord(path string) error {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, ".hea") || !recordName.MatchString(strings.TrimSuffix(name, ".hea")) {
		return fmt.Errorf("dataset: %q is no name of a WFDB header: use letters, digits, - and _, and end it in .hea", name)
	}
	return nil
}

func newWFDBOutput(path string, out Output) (*wfdbOutput, error) {
	n := len(out.T)
	step := (out.T[n-1] - out.T[0]) / float64(n-1)
	for i, t := range out.T {
		if math.Abs(t-(out.T[0]+float64(i)*step)) > 1e-6*step+1e-12*math.Abs(t) {
			return nil, fmt.Errorf("dataset: output: time %d is %g: a WFDB record has times at equal steps; write CSV", i+1, t)
		}
	}
	record := strings.TrimSuffix(filepath.Base(path), ".hea")
	w := &wfdbOutput{path: strings.TrimSuffix(path, ".hea") + ".dat", data: make([]byte, 2*n*len(out.X))}
	h := fmt.Appendf(nil, "%s %d %s %d\n", record, len(out.X), strconv.FormatFloat(1/step, 'g', 12, 64), n)
	for k, x := range out.X {
		gain, text, err := roundGain(x)
		if err != nil {
			return nil, fmt.Errorf("dataset: output: %s: %w", quote(out.Components[k].Name), err)
		}
		sum, first := uint16(0), int16(0)
		for i, v := range x {
			q := int16(math.RoundToEven(v * gain))
			if i == 0 {
				first = q
			}
			sum += uint16(q)
			binary.LittleEndian.PutUint16(w.data[2*(i*len(out.X)+k):], uint16(q))
		}
		h = fmt.Appendf(h, "%s.dat 16 %s(0)/%s 16 0 %d %d 0 %s\n", record, text, oneWord(out.Components[k].Unit), first, int16(sum), oneLine(out.Components[k].Name))
	}
	w.header = h
	return w, nil
}

// roundGain is the largest of 1, 2, 5 times a power of ten at which all values
// fit into 16 bits, but for the lowest, which means none.
func roundGain(x []float64) (gain float64, text string, err error) {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	if top == 0 {
		return 1, "1", nil
	}
	for e := int(math.Floor(math.Log10(math.MaxInt16/top))) + 1; ; e-- {
		for _, digit := range []string{"5", "2", "1"} {
			text = digit + "e" + strconv.Itoa(e)
			gain, err = strconv.ParseFloat(text, 64)
			if err != nil || gain < 1e-300 {
				return 0, "", fmt.Errorf("values up to %g cannot be written as WFDB: write CSV", top)
			}
			if math.RoundToEven(top*gain) <= math.MaxInt16 {
				return gain, strconv.FormatFloat(gain, 'g', -1, 64), nil
			}
		}
	}
}

// oneWord makes a unit that the header can hold; NU is the format's word for none.
func oneWord(s string) string {
	s = strings.Join(strings.Fields(s), "_")
	if s == "" {
		return "NU"
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// commit puts the signal file in its place; the header that makes it a record
// follows.
func (w *wfdbOutput) commit() error {
	f, err := temporary(w.path)
	if err != nil {
		return err
	}
	_, err = f.Write(w.data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), w.path)
	}
	if err != nil {
		return fmt.Errorf("dataset: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
