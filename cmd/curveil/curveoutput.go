package main

// Where private curves go: one file, or a folder with a file for each. All of it is opened before
// anything is spent.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/plot"
)

// curveOutputs are the files that were asked for.
type curveOutputs struct {
	path, release, picture string
	own, force             bool
}

func (o *curveOutputs) register(f *pflag.FlagSet) {
	f.StringVarP(&o.path, "out", "o", "", "file for the private curves, in the format of its suffix (without one: as the input, and for a folder or several curves a folder)")
	f.StringVar(&o.release, "release", "", "file for the release of one curve (JSON), with its guarantee")
	f.StringVar(&o.picture, "plot", "", "picture of one private curve (.svg, .png, .pdf)")
	f.BoolVar(&o.own, "own", false, "draw the original into the picture too: for the person's own eyes only")
	f.BoolVar(&o.force, "force", false, "overwrite existing outputs")
}

// check refuses what could not be written, before the data are read.
func (o *curveOutputs) check(in string) error {
	if o.path == "" {
		return usagef("-o FILE is needed: where the private curves go")
	}
	o.path = filepath.Clean(o.path)
	if o.own && o.picture == "" {
		return usagef("--own goes with --plot")
	}
	if o.picture != "" {
		if err := plot.CheckPath(o.picture); err != nil {
			return usageError{err}
		}
		if err := publish.CheckPath(o.picture, true, in); err != nil {
			return err
		}
	}
	paths := []string{o.path, o.release}
	switch {
	case isFolder(o.path) && filepath.Ext(o.path) == "":
		paths[0] = "" // its emptiness is looked at when it is known whether one is wanted
	case strings.EqualFold(filepath.Ext(o.path), ".hea"):
		paths = append(paths, strings.TrimSuffix(o.path, filepath.Ext(o.path))+".dat")
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		if err := publish.CheckPath(path, o.force, in); err != nil {
			return err
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// curveWriter writes private curves and puts all of them in their place at the end, or none.
type curveWriter struct {
	release *publish.Place
	file    *dataset.TrackWriter // nil for a folder
	format  dataset.Format
	path    string
	folder  string // that becomes path
	n, of   int
}

// open opens everything that n curves of the input need.
func (o *curveOutputs) open(in string, format dataset.Format, n int) (w *curveWriter, err error) {
	w = &curveWriter{path: o.path, format: format, of: n}
	defer func() {
		if err != nil {
			w.discard()
		}
	}()
	if w.release, err = publish.Reserve(o.release); err != nil {
		return w, err
	}
	if filepath.Ext(o.path) != "" || n == 1 && !isFolder(in) {
		if isFolder(o.path) {
			return w, usagef("%s is a folder: give the name of a file for one curve", o.path)
		}
		w.file, err = dataset.CreateTracks(o.path, format, n > 1)
		return w, err
	}
	if entries, err := os.ReadDir(o.path); err == nil && len(entries) > 0 {
		return w, usagef("%s is a folder with files in it: give a new name, or an empty folder", o.path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w, usagef("%s exists and is no folder, which a -o without suffix is for several curves: give another name", o.path)
	}
	if w.folder, err = os.MkdirTemp(filepath.Dir(filepath.Clean(o.path)), ".curveil-*"); err != nil {
		return w, fmt.Errorf("%s: nothing can be written into that folder (%w): give another", o.path, err)
	}
	return w, nil
}

// write adds a curve.
func (w *curveWriter) write(out dataset.Output) error {
	if w.file != nil {
		return w.file.Write(out)
	}
	w.n++
	// Numbers, since the names of the files that came in may be those of people.
	name := fmt.Sprintf("track-%0*d.%s", len(fmt.Sprint(w.of)), w.n, suffixOf(w.format))
	f, err := dataset.CreateTracks(filepath.Join(w.folder, name), w.format, false)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := f.Write(out); err != nil {
		return err
	}
	return f.Commit()
}

func (w *curveWriter) commit() error {
	if w.file != nil {
		return w.file.Commit()
	}
	if err := os.Remove(w.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder
		return err
	}
	if err := errors.Join(os.Chmod(w.folder, 0o755), os.Rename(w.folder, w.path)); err != nil {
		return err
	}
	w.folder = ""
	return nil
}

// discard leaves no trace of what was not committed.
func (w *curveWriter) discard() {
	w.release.Discard()
	if w.file != nil {
		w.file.Discard()
	}
	if w.folder != "" {
		os.RemoveAll(w.folder)
	}
}

func suffixOf(f dataset.Format) string {
	if f == dataset.WFDB {
		return "hea"
	}
	return string(f)
}

// outputFormat is that of the file's suffix; what came in where the suffix says
// nothing.
func outputFormat(path string, in dataset.Format) (dataset.Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gpx":
		return dataset.GPX, nil
	case ".geojson", ".json":
		return dataset.GeoJSON, nil
	case ".csv":
		return dataset.CSV, nil
	case ".hea":
		return dataset.WFDB, nil
	case "":
		if in == dataset.Parquet {
			in = dataset.CSV
		}
		return in, nil
	}
	return "", usagef("-o %s: the name must end in .gpx, .geojson, .csv or .hea", path)
}
