package beam

// Reading in parallel: a CSV file is cut into ranges of bytes, and a range is read by
// the core's own reader as a small file with the same header. A Parquet file is read
// whole by one worker.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/space"
)

// Chunk is a part of a file: lines that begin in [Start, End), or all when End is 0.
type Chunk struct {
	Path       string
	Start, End int64
}

// Source says how rows are read; everything is settled by the driver, so that all
// workers read alike.
type Source struct {
	Layout, ID, Unit, Time string
	Components             []string // value columns, or the coordinates of points
	Ignore                 []string
	Times                  []float64 // of a wide file
	Separator, Decimal     rune
	Domain                 *space.Interval
	Constant               bool
	Zone                   string // "" for none
	// Deduplicate drops repeated rows: lines of a chunk that are alike in every
	// byte, and samples of a person that are alike in time and values.
	Deduplicate bool
}

// SourceOf settles the options by what the first file's header says.
func SourceOf(o dataset.Options, s dataset.Schema) (Source, error) {
	src := Source{
		Layout: s.Layout, ID: s.ID, Unit: s.Unit, Time: s.Time, Components: s.Components, Ignore: s.Ignored, Times: s.Times,
		Separator: s.Separator, Decimal: s.Decimal, Domain: o.Domain, Constant: o.Constant,
	}
	if o.Zone != nil {
		src.Zone = o.Zone.String()
	}
	if s.Layout == dataset.Long && s.ID == "" && s.Unit == "" {
		return src, errors.New("beam: a long file without an id column is one person's curve, and there is no mean of one: name the column that tells people apart in the id option")
	}
	return src, nil
}

func (s Source) options(csv bool) (dataset.Options, error) {
	o := dataset.Options{
		Layout: s.Layout, ID: s.ID, Unit: s.Unit, Time: s.Time, Ignore: s.Ignore, Domain: s.Domain,
		Constant: s.Constant || s.Layout == dataset.Long, // a chunk may hold one sample of a curve: checked when it is whole
	}
	if s.ID == "" {
		o.ID = "-"
	}
	if s.Layout == dataset.Long || s.Components[0] != "value" {
		o.Values = s.Components
	}
	if csv {
		o.Separator, o.Decimal = s.Separator, s.Decimal
	}
	if s.Zone != "" {
		zone, err := time.LoadLocation(s.Zone)
		if err != nil {
			return o, err
		}
		o.Zone = zone
	}
	return o, nil
}

// Chunks lists the files that match the patterns and cuts the CSV files into ranges
// of about size bytes; size 0 leaves files whole.
func Chunks(ctx context.Context, patterns []string, size int64) ([]Chunk, error) {
	var out []Chunk
	seen := map[string]bool{}
	for _, pattern := range patterns {
		fs, err := filesystem.New(ctx, pattern)
		if err != nil {
			return nil, err
		}
		defer fs.Close()
		paths, err := fs.List(ctx, pattern)
		if err != nil {
			return nil, fmt.Errorf("beam: %s: %w", pattern, err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("beam: %s: no such file", pattern)
		}
		slices.Sort(paths)
		for _, path := range paths {
			if seen[path] {
				return nil, fmt.Errorf("beam: %s is named twice: its people would count twice", path)
			}
			seen[path] = true
			if isParquet(path) || size <= 0 {
				out = append(out, Chunk{Path: path})
				continue
			}
			n, err := fs.Size(ctx, path)
			if err != nil {
				return nil, fmt.Errorf("beam: %s: %w", path, err)
			}
			for at := int64(0); at < max(n, 1); at += size {
				out = append(out, Chunk{Path: path, Start: at, End: min(at+size, max(n, 1))})
			}
		}
	}
	return out, nil
}

func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// lines returns the chunk as a CSV file of its own.
func (s Source) lines(ctx context.Context, c Chunk) (*rows, error) {
	fs, err := filesystem.New(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, c.Path)
	if err != nil {
		return nil, fmt.Errorf("beam: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var out bytes.Buffer
	header, err := r.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("beam: %s: %w", c.Path, err)
	}
	out.Write(header)
	at := int64(len(header))
	if c.Start > at {
		// The byte before the chunk: if it ends a line, the next one is ours.
		to := c.Start - 1
		if seeker, ok := f.(io.Seeker); ok {
			if _, err = seeker.Seek(to, io.SeekStart); err == nil {
				r.Reset(f)
			}
		} else {
			_, err = io.CopyN(io.Discard, r, to-at)
		}
		if err != nil {
			return nil, fmt.Errorf("beam: %s: %w", c.Path, err)
		}
		rest, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("beam: %s: %w", c.Path, err)
		}
		at = to + int64(len(rest))
	}
	kept := rows{start: at}
	n := 1 // lines kept, with the header
	seen := map[[sha256.Size]byte]bool{}
	for c.End == 0 || at < c.End {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("beam: %s: %w", c.Path, err)
		}
		at += int64(len(line))
		text := bytes.TrimRight(line, "\r\n")
		if c.End != 0 && bytes.Count(text, []byte{'"'})%2 == 1 {
			return nil, fmt.Errorf("beam: %s: a quoted field runs over the end of a line: read files whole (chunk 0)", c.Path)
		}
		keep := len(text) > 0
		if keep && s.Deduplicate {
			h := sha256.Sum256(text)
			keep = !seen[h]
			seen[h] = true
		}
		if keep {
			out.Write(text)
			out.WriteByte('\n')
			n++
		} else {
			kept.dropped = append(kept.dropped, n)
		}
		if err == io.EOF {
			break
		}
	}
	kept.Reader = bytes.NewReader(out.Bytes())
	return &kept, nil
}

// curves reads the fragments of the chunk.
func (s Source) curves(ctx context.Context, c Chunk, emit func(person string, fragment []byte)) (err error) {
	o, err := s.options(!isParquet(c.Path))
	if err != nil {
		return err
	}
	var file *dataset.Reader
	var r *rows
	if isParquet(c.Path) {
		var data *bytes.Reader
		if data, err = s.parquet(ctx, c); err != nil {
			return err
		}
		if data == nil {
			o.Unsorted = s.Layout == dataset.Long
			file, err = dataset.Open(c.Path, o)
		} else {
			o.Buffer = 1 << 40 // the file is in memory already
			file, err = dataset.NewParquet(data, data.Size(), c.Path, o)
		}
	} else {
		if r, err = s.lines(ctx, c); err != nil {
			return err
		}
		o.Buffer = 1 << 40 // the chunk is in memory already: any order of rows
		file, err = dataset.NewCSV(r, c.Path, o)
	}
	if err != nil {
		return discreet(ctx, c, r, err)
	}
	defer file.Close()
	if h := file.Schema(); h.Layout != s.Layout || !slices.Equal(h.Components, s.Components) || !slices.Equal(h.Times, s.Times) {
		return fmt.Errorf("beam: %s has other columns than the first file: all files must have the same", c.Path)
	}
	for i := 0; file.Next(); i++ {
		p := file.Person()
		name := p.Unit
		if s.ID == "" && s.Unit == "" { // each row is a person
			name = fmt.Sprintf("%s\x00%d\x00%d", c.Path, c.Start, i)
		}
		for k, curve := range p.Curves {
			f := fragment{curve: curve}
			switch {
			case p.IDs != nil:
				f.id = p.IDs[k]
			case s.Unit != "" && s.Layout == dataset.Wide:
				f.id = fmt.Sprintf("%s\x00%d\x00%d\x00%d", c.Path, c.Start, i, k)
			}
			emit(name, f.encode())
		}
	}
	return discreet(ctx, c, r, file.Err())
}

// points reads people's points: the name is "" where each row is a person.
func (s Source) points(ctx context.Context, c Chunk, emit func(person string, x []float64)) (err error) {
	o := dataset.PointOptions{Columns: s.Components, Unit: s.Unit, Separator: s.Separator, Decimal: s.Decimal, Scattered: true}
	var file *dataset.Points
	var r *rows
	if isParquet(c.Path) {
		o.Separator, o.Decimal = 0, 0
		var data *bytes.Reader
		if data, err = s.parquet(ctx, c); err != nil {
			return err
		}
		if data == nil {
			file, err = dataset.OpenPoints(c.Path, o)
		} else {
			file, err = dataset.NewPointsParquet(data, data.Size(), c.Path, o)
		}
	} else {
		if r, err = s.lines(ctx, c); err != nil {
			return err
		}
		file, err = dataset.NewPointsCSV(r, c.Path, o)
	}
	if err != nil {
		return discreet(ctx, c, r, err)
	}
	defer file.Close()
	for file.Next() {
		x, unit, _ := file.Person()
		emit(unit, x)
	}
	return discreet(ctx, c, r, file.Err())
}
