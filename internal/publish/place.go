package publish

// The places of outputs. Whatever can be tried of writing is tried before the budget is
// spent; what then cannot be written all the same is kept where it can be found.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Place is a file that is to be written, whose temporary file beside it is open. Its methods take nil for
// no file.
type Place struct {
	path string
	f    *os.File // nil once written or discarded
}

// Reserve opens the temporary file, so that a folder that takes none is found before anything is
// spent; it returns nil for no path.
func Reserve(path string) (*Place, error) {
	if path == "" {
		return nil, nil
	}
	// A name that the file system does not take fails here.
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: give another name", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*")
	if err != nil {
		return nil, fmt.Errorf("%s: nothing can be written into that folder (%w): give another", path, err)
	}
	return &Place{path, f}, nil
}

// Try is Reserve for what needs no place kept: it leaves no trace.
func Try(path string) error {
	p, err := Reserve(path)
	p.Discard()
	return err
}

// Write writes all of the file or nothing.
func (p *Place) Write(data []byte) error {
	if p == nil {
		return nil
	}
	f := p.f
	p.f = nil
	_, err := f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), p.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Discard leaves no trace of a file that was not written.
func (p *Place) Discard() {
	if p == nil || p.f == nil {
		return
	}
	p.f.Close()
	os.Remove(p.f.Name())
	p.f = nil
}

// Rescue keeps what was paid for and has no place: beside the ledger, else in the working
// folder, else among the temporary files. It returns where.
func (b *Budget) Rescue(text []byte, suffix string) (path string, err error) {
	folders := []string{".", os.TempDir()}
	if b.Where != "none" && !strings.Contains(b.Where, "://") {
		folders = append([]string{filepath.Dir(b.Where)}, folders...)
	}
	var errs []error
	for _, folder := range folders {
		f, err := os.CreateTemp(folder, "curveil-rescued-*"+suffix) // mode 0600
		if err == nil {
			_, err = f.Write(text)
			if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
				if whole, err := filepath.Abs(f.Name()); err == nil {
					return whole, nil
				}
				return f.Name(), nil
			}
			os.Remove(f.Name())
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// Unwritten keeps a release that was drawn and could not be written, records it, and explains.
func (b *Budget) Unwritten(ctx context.Context, spent *Expense, text []byte, cause error) error {
	path, err := b.Rescue(text, ".json")
	if err != nil {
		return spent.Wasted(errors.Join(cause, err))
	}
	kept := fmt.Errorf("the release could not be written to its place (%w); it was made and paid for, and is kept in %s: move it to where it belongs", cause, path)
	return errors.Join(kept, spent.Record(ctx, text))
}
