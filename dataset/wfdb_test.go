package dataset

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The whole of record 100 of the MIT-BIH database: its first minute is the CSV
// file's, and both checksums, over 650,000 samples each, are verified on the way.
func TestRecord100(t *testing.T) {
	path := shared(t, "ecg/100.hea")
	got := one(t, path, TrackOptions{})
	if len(got.Curve[0].T) != 650000 || len(got.Curve[1].X) != 650000 {
		t.Fatalf("%d and %d samples", len(got.Curve[0].T), len(got.Curve[1].X))
	}
	if d := cmp.Diff([]Component{{"MLII", "mV"}, {"V5", "mV"}}, got.Components); d != "" {
		t.Errorf("components (-want +got):\n%s", d)
	}
	want := one(t, shared(t, "ecg/mitdb100_60s.csv"), TrackOptions{})
	for k := range want.Curve {
		for i, x := range want.Curve[k].X {
			if got.Curve[k].X[i] != x || math.Abs(got.Curve[k].T[i]-want.Curve[k].T[i]) > 5.1e-7 {
				t.Fatalf("sample %d of signal %d: %g at %g, want %g at %g", i, k, got.Curve[k].X[i], got.Curve[k].T[i], x, want.Curve[k].T[i])
			}
		}
	}
	if byData := one(t, strings.TrimSuffix(path, ".hea")+".dat", TrackOptions{}); !slices.Equal(got.Curve[1].X, byData.Curve[1].X) {
		t.Error("another record by the name of the signal file")
	}
	v5 := one(t, path, TrackOptions{Options: Options{Values: []string{"V5"}}})
	if len(v5.Components) != 1 || v5.Components[0].Name != "V5" || v5.Curve[0].X[0] != want.Curve[1].X[0] {
		t.Errorf("V5 alone: %v", v5.Components)
	}
	data, err := os.ReadFile(strings.TrimSuffix(path, ".hea") + ".dat")
	if err != nil {
		t.Fatal(err)
	}
	header, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[900_001] ^= 0x10
	_, err = readWFDB("100.hea", header, nil, func(string) ([]byte, error) { return data, nil })
	checkDataError(t, err, "100.dat", 0, 0, "", "checksum of signal 'V5'", "says 20052")
}

func TestPTBSignal(t *testing.T) {
	got := one(t, shared(t, "ecg/ptb_s0010_ii_100hz.csv"), TrackOptions{})
	if got.Geographic || len(got.Curve) != 1 || len(got.Curve[0].T) != 1000 || got.Components[0].Name != "ii_uV" || got.Curve[0].X[2] != -212.3 || got.Time != "t" {
		t.Errorf("%d series of %d, %v", len(got.Curve), len(got.Curve[0].T), got.Components)
	}
}

// The bytes of each format as signal(5) describes them, encoded by hand.
func TestSampleFormats(t *testing.T) {
	for _, c := range []struct {
		format  int
		bytes   []byte
		samples []int32
	}{
		{80, []byte{0x80, 0x81, 0x7f, 0xff, 0x01}, []int32{0, 1, -1, 127, -127}},
		{16, []byte{0x01, 0x00, 0xff, 0xff, 0xff, 0x7f, 0x01, 0x80}, []int32{1, -1, 32767, -32767}},
		{61, []byte{0x00, 0x01, 0xff, 0xff, 0x7f, 0xff, 0x80, 0x01}, []int32{1, -1, 32767, -32767}},
		{160, []byte{0x01, 0x80, 0xff, 0x7f, 0xff, 0xff, 0x01, 0x00}, []int32{1, -1, 32767, -32767}},
		{212, []byte{0x01, 0xf0, 0xff, 0xff, 0x87, 0x01, 0xe3, 0x33, 0xf3}, []int32{1, -1, 2047, -2047, 995, 1011}},
		{212, []byte{0x01, 0xf0, 0xff, 0xff, 0x07}, []int32{1, -1, 2047}},
		{24, []byte{0x01, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x01, 0, 0x80}, []int32{1, -1, 8388607, -8388607}},
		{32, []byte{0x01, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, []int32{1, -1, math.MaxInt32}},
	} {
		t.Run(fmt.Sprint(c.format), func(t *testing.T) {
			sum := int64(0)
			for i, want := range c.samples {
				sum += int64(want)
				if got := wfdbSample(c.format, c.bytes, i); got != want {
					t.Errorf("sample %d is %d, want %d", i, got, want)
				}
			}
			// the checksum both as it is written and reduced to 16 bits without sign
			for _, check := range []int64{int64(int16(sum)), int64(uint16(sum))} {
				header := fmt.Sprintf("r 1 10 %d\nr.dat %d 2(1)/uV 0 0 %d %d 0 x\n", len(c.samples), c.format, c.samples[0], check)
				track, err := readWFDB("r.hea", []byte(header), nil, func(string) ([]byte, error) { return c.bytes, nil })
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range c.samples {
					if s := track.Curve[0]; s.X[i] != float64(int64(want)-1)/2 || s.T[i] != float64(i)/10 {
						t.Errorf("sample %d: %g at %g", i, s.X[i], s.T[i])
					}
				}
			}
		})
	}
}

func record(header string, files map[string][]byte, names ...string) (*Track, error) {
	return readWFDB("r.hea", []byte(header), names, func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, os.ErrNotExist
	})
}

// Two files, one with two signals, one of them at twice the rate; offset,
// comments, blank lines, defaults, equal names, a missing sample.
func TestHeaderFeatures(t *testing.T) {
	header := "# first\r\n\r\n  r 4 2/100(3) 2 12:00:00 1/1/2000\r\n" +
		"a.dat 16x2+1 10 12 5 1 2 0 ECG  lead one\r\n#between\r\n" +
		"a.dat 16+1 -2.5e-1(-1)/mm_Hg\r\n" +
		"b.dat 80 4 8 0 -1\r\n\r\n" +
		"c.dat 80:0 4 8 0 -1 -129 0 ECG  lead one\r\n# last\r\n"
	track, err := record(header, map[string][]byte{
		"a.dat": {9, 1, 0, 2, 0, 3, 0, 4, 0, 0xfb, 0xff, 0xff, 0xff},
		"b.dat": {127, 128},
		"c.dat": {127, 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Component{{"ECG  lead one", "mV"}, {"signal 2", "mm_Hg"}, {"signal 3", "mV"}, {"ECG  lead one 2", "mV"}}, track.Components); d != "" {
		t.Errorf("components (-want +got):\n%s", d)
	}
	var got [][]float64
	for _, s := range track.Curve {
		got = append(got, s.T, s.X)
	}
	want := [][]float64{{0, 0.25, 0.5, 0.75}, {-.4, -.3, -.1, -1}, {0, .5}, {-16, 0}, {0, .5}, {-.25, 0}, {0}, {-.25}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if track, err = record("r 1\na.dat 16 10\n", map[string][]byte{"a.dat": {1, 0, 2, 0, 3, 0}}); err != nil || len(track.Curve[0].T) != 3 || track.Curve[0].T[1] != 1.0/250 {
		t.Errorf("defaults: %+v, %v", track, err)
	}
}

func TestWFDBRefused(t *testing.T) {
	ten := map[string][]byte{"a.dat": {1, 0, 2, 0, 3, 0, 4, 0, 5, 0}, "b.dat": {1, 2, 3, 4, 5}}
	for _, c := range []struct {
		name, header string
		file         string
		line         int
		says         []string
	}{
		{"empty", "", "r.hea", 0, []string{"no record line"}},
		{"segments", "r/3 2 250 10\n", "r.hea", 1, []string{"segments (3)"}},
		{"no count", "r\n", "r.hea", 1, []string{"number of signals"}},
		{"bad count", "r two\n", "r.hea", 1, []string{"'two'"}},
		{"no signals", "r 0 250 10\n", "r.hea", 1, []string{"no signal"}},
		{"bad rate", "r 1 fast 10\n", "r.hea", 1, []string{"'fast' is no sampling frequency"}},
		{"zero rate", "r 1 0 10\n", "r.hea", 1, []string{"sampling frequency"}},
		{"negative length", "r 1 250 -5\n", "r.hea", 1, []string{"'-5' is no number of samples"}},
		{"fewer signals", "r 2 250 5\na.dat 16 10\n", "r.hea", 0, []string{"announces 2 signals, and there are 1"}},
		{"more signals", "r 1 250 5\na.dat 16 10\na.dat 16 10\n", "r.hea", 3, []string{"a line more"}},
		{"another folder", "r 1 250 5\n../a.dat 16 10\n", "r.hea", 2, []string{"'../a.dat' is no file beside the header"}},
		{"standard input", "r 1 250 5\n- 16 10\n", "r.hea", 2, []string{"'-' is no file"}},
		{"no format", "r 1 250 5\na.dat\n", "r.hea", 2, []string{"'' is no format"}},
		{"format 8", "r 1 250 5\na.dat 8 10\n", "r.hea", 2, []string{"format 8", "212"}},
		{"skew", "r 1 250 5\na.dat 16:3 10\n", "r.hea", 2, []string{"skewed by 3 samples"}},
		{"bad modifier", "r 1 250 5\na.dat 16y3 10\n", "r.hea", 2, []string{"'16y3' is no format"}},
		{"no samples in a frame", "r 1 250 5\na.dat 16x0 10\n", "r.hea", 2, []string{"'16x0' is no format"}},
		{"no gain", "r 1 250 5\na.dat 16\n", "r.hea", 2, []string{"not calibrated"}},
		{"gain 0", "r 1 250 5\na.dat 16 0 12\n", "r.hea", 2, []string{"not calibrated"}},
		{"bad gain", "r 1 250 5\na.dat 16 NaN\n", "r.hea", 2, []string{"'NaN' is no gain"}},
		{"bad baseline", "r 1 250 5\na.dat 16 10(x)\n", "r.hea", 2, []string{"baseline"}},
		{"bad zero", "r 1 250 5\na.dat 16 10 12 y\n", "r.hea", 2, []string{"'y' is no zero level"}},
		{"no file", "r 1 250 5\nc.dat 16 10\n", "r.hea", 2, []string{"cannot be read"}},
		{"two formats", "r 2 250 5\na.dat 16 10\na.dat 61 10\n", "r.hea", 3, []string{"formats 16 and 61"}},
		{"two offsets", "r 2 250 5\na.dat 16 10\na.dat 16+2 10\n", "r.hea", 3, []string{"offsets 0 and 2"}},
		{"file again", "r 3 250 5\na.dat 16 10\nb.dat 80 10\na.dat 16 10\n", "r.hea", 4, []string{"'a.dat' is named again"}},
		{"cut off", "r 1 250 6\na.dat 16 10\n", "a.dat", 0, []string{"ends after 5 frames of 6"}},
		{"cut off in a frame", "r 2 250 3\na.dat 16 10\na.dat 16 10\n", "a.dat", 0, []string{"ends after 2 frames of 3"}},
		{"too long", "r 1 250 4\na.dat 16 10\n", "a.dat", 0, []string{"2 bytes more"}},
		{"beyond the end", "r 1 250 4\na.dat 16+11 10\n", "a.dat", 0, []string{"begin behind byte 11"}},
		{"nothing there", "r 1 250\na.dat 16+10 10\n", "a.dat", 0, []string{"no whole frame"}},
		{"huge", "r 1 250 1099511627776\na.dat 16x1048576 10\n", "a.dat", 0, []string{"ends after 0 frames"}},
		{"initial value", "r 1 250 5\na.dat 16 10 12 0 2\n", "a.dat", 0, []string{"begins with the sample 1", "says 2"}},
		{"checksum", "r 1 250 5\na.dat 16 10 12 0 1 16\n", "a.dat", 0, []string{"checksum of signal 'signal 1' is 15", "says 16"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := record(c.header, ten)
			checkDataError(t, err, c.file, c.line, 0, "", c.says...)
		})
	}
	_, err := record("r 1 250 5\na.dat 16 10 12 0 1 15 0 I\n", ten, "II")
	checkDataError(t, err, "r.hea", 0, 0, "", "no signal 'II'", "'I'")
	if _, err := OpenTracks(filepath.Join(t.TempDir(), "x.hea"), TrackOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no header: %v", err)
	}
	folder := t.TempDir()
	header := filepath.Join(folder, "r.hea")
	if err := os.WriteFile(header, []byte("r 1 250 1\nr.dat 16 10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "r.dat"), []byte{1, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = readTracks(folder, TrackOptions{})
	checkDataError(t, err, header, 0, 0, "", "1 sample only")
}

func FuzzWFDB(f *testing.F) {
	for _, format := range []int{16, 24, 32, 61, 80, 160, 212} {
		f.Add(fmt.Appendf(nil, "r 2 360 3\nr.dat %d 200(1)/mV 11 0 0 0 0 MLII\nr.dat %d 200 11 1024\n", format, format), []byte("0123456789abcdefghijklmn"))
		f.Add(fmt.Appendf(nil, "r 2 360/10(2)\nr.dat %dx2+1 -1e3 11 0\nr.dat %d+1 200 11 1024\n", format, format), []byte("0123456789abcdefghijklmn"))
	}
	f.Add(seed(f, "ecg/100.hea", 1000), seed(f, "ecg/100.dat", 300))
	f.Fuzz(func(t *testing.T, header, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		track, err := readWFDB("r.hea", header, nil, func(string) ([]byte, error) { return data, nil })
		if err == nil {
			o := TrackOptions{}
			if err = o.prepare(track); err == nil {
				checkTrack(t, track)
				return
			}
		}
		checkFault(t, err)
	})
}
