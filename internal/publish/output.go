package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/release"
)

// Output says where a release goes.
type Output struct {
	Out, Picture string
	Force        bool
}

// Register adds the flags.
func (o *Output) Register(f *pflag.FlagSet) {
	f.StringVarP(&o.Out, "out", "o", "", "file for the release (JSON); default: standard output")
	f.StringVar(&o.Picture, "plot", "", "picture of the release with its bands (.svg, .png, .pdf)")
	f.BoolVar(&o.Force, "force", false, "overwrite an existing release, which cannot be had again without spending again")
}

// Check refuses outputs that could not be written, before anything is spent. inputs
// are the files that the call reads.
func (o *Output) Check(inputs ...string) error {
	if err := checkInputs(inputs); err != nil {
		return err
	}
	if o.Picture != "" {
		if err := plot.CheckPath(o.Picture); err != nil {
			return flags.Usage(err)
		}
		if err := CheckPath(o.Picture, true, inputs...); err != nil {
			return err
		}
	}
	switch strings.ToLower(filepath.Ext(o.Out)) {
	case ".png", ".svg", ".pdf":
		return flags.Usagef("-o %s: the release is JSON; --plot draws the picture", o.Out)
	}
	if o.Out == "" {
		return nil
	}
	return CheckPath(o.Out, o.Force, inputs...)
}

// checkInputs refuses inputs that are not there: that is said before what is wrong with
// the outputs.
func checkInputs(inputs []string) error {
	for _, in := range inputs {
		if in == "-" {
			continue
		}
		if _, err := os.Stat(in); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: no such file", in)
		}
	}
	return nil
}

// CheckPath refuses a path that cannot be written, is one of the inputs, or, unless
// forced, exists: what stands there may be a release, which cannot be had again.
func CheckPath(path string, force bool, inputs ...string) error {
	return check(path, force, "a release cannot be had again without spending again; ", inputs)
}

// CheckCopy is CheckPath for what can be made again for nothing.
func CheckCopy(path string, force bool, inputs ...string) error {
	return check(path, force, "", inputs)
}

func check(path string, force bool, why string, inputs []string) error {
	if err := checkInputs(inputs); err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return flags.Usagef("%s: the folder does not exist: make it first", path)
	}
	info, err := os.Stat(path)
	if err != nil { // not there yet
		return Try(path)
	}
	for _, in := range inputs {
		if other, err := os.Stat(in); err == nil && os.SameFile(info, other) {
			return flags.Usagef("%s is what the call reads: give the output another name", path)
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return flags.Usagef("%s is no file that could be replaced: give another name", path)
	case !force:
		return flags.Usagef("%s exists: %sgive another name, or --force", path, why)
	}
	return Try(path)
}

// Afterwards explains what failed once the release was safe, and which verb makes it again from the release.
func (o *Output) Afterwards(what, verb string, err error) error {
	where := "went to standard output"
	if o.Out != "" {
		where = "is in " + o.Out
	}
	return fmt.Errorf("%s could not be written (%w). The release %s, and is recorded: 'curveil %s' makes %s from it, at no cost", what, err, where, verb, what)
}

// Write stores the release and returns its bytes; Release does so with its place reserved beforehand.
func (o *Output) Write(r *release.Release, stdout io.Writer) ([]byte, error) {
	text, err := Encode(r)
	if err != nil {
		return nil, err
	}
	if o.Out != "" {
		return text, File(o.Out, text)
	}
	_, err = stdout.Write(text)
	return text, err
}

// Encode returns the text of a release.
func Encode(r *release.Release) ([]byte, error) {
	var buf bytes.Buffer
	err := r.Encode(&buf)
	return buf.Bytes(), err
}

// Picture draws a release.
func Picture(path string, r *release.Release, o plot.Options) error {
	draw := plot.Release
	if r.Verb == release.Density {
		draw = plot.Density
	}
	if r.Method == release.Denoised {
		o.NoBand = true // smoothing left no band
	}
	p, err := draw(r, o)
	if err != nil {
		return err
	}
	return p.Save(path)
}

// File writes all of the file or nothing.
func File(path string, data []byte) error {
	return FileWith(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// FileWith writes what do writes, all of it or nothing.
func FileWith(path string, do func(io.Writer) error) error {
	p, err := Reserve(path)
	if err != nil {
		return err
	}
	defer p.Discard()
	if err := do(p.f); err != nil {
		return err
	}
	return p.Write(nil)
}
