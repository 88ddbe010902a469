package dataset

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/curveil/curveil/fit"
)

// WFDB records: a text header (PhysioNet, header(5)) and the signal files that
// it names. Initial values and checksums of the header are compared with the
// samples, so that a header beside the wrong signals is not believed.

// wfdbSignal is one signal line of a header.
type wfdbSignal struct {
	line      int
	file      string
	format    int
	perFrame  int
	offset    int64
	gain      float64 // units of the converter per physical unit
	baseline  int64   // converter's value of physical zero
	unit      string
	zero      int64
	initial   *int64
	checksum  *int64
	blockSize int64
	name      string
}

type wfdbHeader struct {
	origin
	rate    float64 // frames a second
	frames  int64   // 0: as many as there are
	signals []wfdbSignal
}

func (h *wfdbHeader) fault(line int, name, msg, fix string) *DataError {
	return h.at(line, 0, name, msg, fix)
}

// mostFrames keeps arithmetic on sizes far from overflow.
const mostFrames = 1 << 40

// readWFDBHeader parses a header file.
func readWFDBHeader(file string, data []byte) (*wfdbHeader, error) {
	h := &wfdbHeader{origin: origin{file: file}}
	data = bytes.TrimPrefix(data, bom)
	want := -1 // signal lines announced
	for n, line := range strings.Split(string(data), "\n") {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		switch {
		case want < 0:
			var err error
			if want, err = h.record(n, line); err != nil {
				return nil, err
			}
		case len(h.signals) == want:
			return nil, h.fault(n, "", fmt.Sprintf("a line more than the %s that the record line announces", count(want, "signal")), "correct the number of signals, or put # before a comment")
		default:
			s, err := h.signal(n, line)
			if err != nil {
				return nil, err
			}
			h.signals = append(h.signals, s)
		}
	}
	switch {
	case want < 0:
		return nil, h.fault(0, "", "the header has no record line", "is this a WFDB header?")
	case len(h.signals) < want:
		return nil, h.fault(0, "", fmt.Sprintf("the record line announces %s, and there are %d", count(want, "signal"), len(h.signals)), "was the header cut off?")
	}
	h.distinctNames()
	return h, nil
}

// record reads the record line: name[/segments] signals [rate[/counter[(base)]]
// [samples [time [date]]]]. Time and date are not read: they would tell more
// than the curve.
func (h *wfdbHeader) record(n int, line string) (signals int, err error) {
	f := strings.Fields(line)
	if _, segments, multi := strings.Cut(f[0], "/"); multi {
		return 0, h.fault(n, "", fmt.Sprintf("the record has segments (%s), which are not read", segments), "give the header of one segment, or join them first (xform of the WFDB tools)")
	}
	if len(f) < 2 {
		return 0, h.fault(n, "", "the record line has no number of signals", "it begins with the record's name and the number of signals")
	}
	if signals, err = strconv.Atoi(f[1]); err != nil || signals < 0 {
		return 0, h.fault(n, "", quote(f[1])+" is no number of signals", "the record line begins with the record's name and the number of signals")
	}
	if signals == 0 {
		return 0, h.fault(n, "", "the record has no signal", "only records with signals are curves")
	}
	h.rate = 250 // of the specification
	if len(f) > 2 {
		rate, _, _ := strings.Cut(f[2], "/")
		var ok bool
		if h.rate, ok = finiteNumber(rate); !ok || h.rate <= 0 || h.rate > 1e12 || h.rate < 1e-12 {
			return 0, h.fault(n, "", quote(f[2])+" is no sampling frequency", "it must be a positive number of samples a second")
		}
	}
	if len(f) > 3 {
		if h.frames, err = strconv.ParseInt(f[3], 10, 64); err != nil || h.frames < 0 || h.frames > mostFrames {
			return 0, h.fault(n, "", quote(f[3])+" is no number of samples", "correct it, or write 0 for as many as there are")
		}
	}
	return signals, nil
}

// signal reads a signal line: file format[xframe][:skew][+offset]
// [gain[(baseline)][/unit] [resolution [zero [initial [checksum [block
// [description]]]]]]].
func (h *wfdbHeader) signal(n int, line string) (s wfdbSignal, err error) {
	bad := func(field, f, fix string) (wfdbSignal, error) {
		return s, h.fault(n, "", fmt.Sprintf("%s is no %s", quote(f), field), fix)
	}
	var f [9]string
	rest := line
	for i := range f {
		if i == len(f)-1 {
			f[i] = strings.TrimSpace(rest)
			break
		}
		rest = strings.TrimSpace(rest)
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			f[i], rest = rest, ""
			break
		}
		f[i], rest = rest[:end], rest[end:]
	}
	s = wfdbSignal{line: n, file: f[0], perFrame: 1, unit: "mV", name: f[8]}
	if s.file == "-" || s.file == "~" || s.file != filepath.Base(s.file) || strings.ContainsAny(s.file, `/\`) || s.file == "." || s.file == ".." {
		return s, h.fault(n, "", quote(s.file)+" is no file beside the header", "signal files must lie in the folder of the header")
	}
	format, modifiers := digits(f[1])
	if s.format, err = strconv.Atoi(format); err != nil {
		return bad("format of samples", f[1], wfdbFormats)
	}
	if wfdbWidth(s.format) == 0 {
		return s, h.fault(n, "", fmt.Sprintf("format %d of samples is not read", s.format), wfdbFormats)
	}
	for modifiers != "" {
		mark := modifiers[0]
		number, left := digits(modifiers[1:])
		v, err := strconv.ParseInt(number, 10, 40)
		if err != nil {
			return bad("format of samples", f[1], "it is a number and perhaps xSAMPLES, :SKEW, +OFFSET")
		}
		modifiers = left
		switch {
		case mark == 'x' && v >= 1 && v <= 1<<20:
			s.perFrame = int(v)
		case mark == '+':
			s.offset = v
		case mark == ':' && v == 0:
		case mark == ':':
			return s, h.fault(n, "", fmt.Sprintf("the signal is skewed by %s, which is not read", count(int(v), "sample")), "align the signals first (xform of the WFDB tools)")
		default:
			return bad("format of samples", f[1], "it is a number and perhaps xSAMPLES, :SKEW, +OFFSET")
		}
	}
	return h.calibration(s, f)
}

const wfdbFormats = "the formats 16, 24, 32, 61, 80, 160 and 212 are read; convert the record with xform of the WFDB tools"

// calibration reads the fields behind the format.
func (h *wfdbHeader) calibration(s wfdbSignal, f [9]string) (wfdbSignal, error) {
	gain, unit, hasUnit := strings.Cut(f[2], "/")
	if hasUnit && unit != "" {
		s.unit = unit
	}
	gain, base, hasBase := strings.Cut(gain, "(")
	var ok bool
	if s.gain, ok = finiteNumber(gain); gain != "" && !ok {
		return s, h.fault(s.line, "", quote(f[2])+" is no gain", "it must be a number of converter units per physical unit")
	}
	if s.gain == 0 {
		return s, h.fault(s.line, "", "the signal is not calibrated (its gain is 0 or missing), so that its values have no unit", "write the gain, in converter units per physical unit")
	}
	var numbers [5]*int64 // resolution, zero, initial, checksum, block
	for i := range numbers {
		if f[3+i] == "" {
			break
		}
		v, err := strconv.ParseInt(f[3+i], 10, 64)
		if err != nil || v < -1<<40 || v > 1<<40 {
			return s, h.fault(s.line, "", fmt.Sprintf("%s is no %s", quote(f[3+i]), [...]string{"resolution", "zero level", "initial value", "checksum", "block size"}[i]), "it must be a whole number")
		}
		numbers[i] = &v
	}
	if numbers[1] != nil {
		s.zero = *numbers[1]
	}
	s.baseline = s.zero
	if hasBase {
		v, err := strconv.ParseInt(strings.TrimSuffix(base, ")"), 10, 64)
		if err != nil || !strings.HasSuffix(base, ")") || v < -1<<40 || v > 1<<40 {
			return s, h.fault(s.line, "", quote(f[2])+" has no whole number as baseline", "write gain(baseline)/unit")
		}
		s.baseline = v
	}
	s.initial, s.checksum = numbers[2], numbers[3]
	if numbers[4] != nil {
		s.blockSize = *numbers[4]
	}
	return s, nil
}

func digits(s string) (number, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

func finiteNumber(s string) (float64, bool) {
	x, what := cell([]byte(s), '.')
	if what != cellNumber {
		return 0, false
	}
	return x, true
}

// distinctNames gives each signal a name of its own.
func (h *wfdbHeader) distinctNames() {
	taken := map[string]bool{}
	for i := range h.signals {
		s := &h.signals[i]
		if s.name == "" {
			s.name = "signal " + strconv.Itoa(i+1)
		}
		name := s.name
		for n := 2; taken[name]; n++ {
			name = s.name + " " + strconv.Itoa(n)
		}
		s.name = name
		taken[name] = true
	}
}

// wfdbTrack yields the one track of a record.
type wfdbTrack struct{ track *Track }

func (w *wfdbTrack) next() (*Track, error) {
	t := w.track
	w.track = nil
	return t, nil
}

func openWFDB(path string, o TrackOptions) (trackSource, error) {
	if strings.EqualFold(filepath.Ext(path), ".dat") {
		path = path[:len(path)-len(".dat")] + ".hea"
	}
	header, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	folder := filepath.Dir(path)
	t, err := readWFDB(path, header, o.Values, func(file string) ([]byte, error) {
		return os.ReadFile(filepath.Join(folder, file))
	})
	if err != nil {
		return nil, err
	}
	return &wfdbTrack{t}, nil
}

// readWFDB decodes a record. read returns a signal file.
func readWFDB(path string, header []byte, names []string, read func(file string) ([]byte, error)) (*Track, error) {
	h, err := readWFDBHeader(path, header)
	if err != nil {
		return nil, err
	}
	samples := make([][]int32, len(h.signals))
	var files []string
	for i := 0; i < len(h.signals); {
		j := i + 1
		for j < len(h.signals) && h.signals[j].file == h.signals[i].file {
			j++
		}
		group := h.signals[i:j]
		if slices.Contains(files, group[0].file) {
			return nil, h.fault(group[0].line, "", quote(group[0].file)+" is named again, after another file", "the signals of one file must stand together")
		}
		files = append(files, group[0].file)
		data, err := read(group[0].file)
		if err != nil {
			return nil, h.fault(group[0].line, "", fmt.Sprintf("the signal file cannot be read: %v", err), "put it beside the header")
		}
		if err := h.decode(samples[i:j], group, filepath.Join(filepath.Dir(path), group[0].file), data); err != nil {
			return nil, err
		}
		i = j
	}
	return h.track(samples, names)
}

// track makes curves of samples, in physical units.
func (h *wfdbHeader) track(samples [][]int32, names []string) (*Track, error) {
	t := &Track{
		Name: strings.TrimSuffix(filepath.Base(h.file), filepath.Ext(h.file)), File: h.file, Format: WFDB,
		Time: "t", origin: h.origin,
	}
	chosen := make([]int, 0, len(h.signals))
	for _, name := range names {
		i := slices.IndexFunc(h.signals, func(s wfdbSignal) bool { return s.name == name })
		if i < 0 || slices.Contains(chosen, i) {
			var all []string
			for _, s := range h.signals {
				all = append(all, quote(s.name))
			}
			return nil, h.fault(0, "", fmt.Sprintf("no signal %s, which the values option names, or it is named twice", quote(name)), "the signals are "+strings.Join(all, ", "))
		}
		chosen = append(chosen, i)
	}
	for i := range h.signals {
		if len(names) == 0 {
			chosen = append(chosen, i)
		}
	}
	grids := map[int][]float64{} // by samples in a frame
	for _, i := range chosen {
		s := h.signals[i]
		grid := grids[s.perFrame]
		if grid == nil {
			grid = make([]float64, len(samples[i]))
			for j := range grid {
				grid[j] = float64(j) / (h.rate * float64(s.perFrame))
			}
			if n := len(grid); n > 1 && !(grid[n-1] > grid[n-2]) || math.IsInf(grid[n-1], 0) {
				return nil, h.fault(0, "", "the times of the samples cannot be told apart", "correct the sampling frequency")
			}
			grids[s.perFrame] = grid
		}
		t.Components = append(t.Components, Component{Name: s.name, Unit: s.unit})
		t.Curve = append(t.Curve, s.physical(grid, samples[i]))
	}
	return t, nil
}

// physical leaves out what the format marks as no sample.
func (s *wfdbSignal) physical(grid []float64, samples []int32) fit.Series {
	invalid := wfdbInvalid(s.format)
	missing := 0
	for _, v := range samples {
		if v == invalid {
			missing++
		}
	}
	c := fit.Series{T: grid, X: make([]float64, 0, len(samples)-missing)}
	if missing > 0 {
		c.T = make([]float64, 0, len(samples)-missing)
	}
	for i, v := range samples {
		if v == invalid {
			continue
		}
		c.X = append(c.X, float64(int64(v)-s.baseline)/s.gain)
		if missing > 0 {
			c.T = append(c.T, grid[i])
		}
	}
	return c
}
