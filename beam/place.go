package beam

// Where data are wrong, and never what they are: errors of workers end in the runner's
// logs. Each is one line that begins with the package's name, so that the driver finds
// it in what a runner makes of it.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/curveil/curveil/dataset"
)

// Failure is a pipeline that failed. Nothing was released, and the pipeline spent nothing.
type Failure struct {
	Refused string // what a worker said, in one line; "" where none did
	Runner  error  // all that the runner said
}

func (f *Failure) Error() string {
	if f.Refused != "" {
		return fmt.Sprintf("beam: %s; nothing was released and nothing spent", f.Refused)
	}
	return fmt.Sprintf("beam: the pipeline failed; nothing was released and nothing spent: %v", f.Runner)
}

func (f *Failure) Unwrap() error { return f.Runner }

var said = regexp.MustCompile(`(?m)^\s*beam: (.+?)\s*$`)

// Said finds what a worker said in a runner's text; "" where there is no such line.
func Said(text string) string {
	if m := said.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// discreet says where the data of a chunk are wrong. rows are of a CSV file; nil for others.
func discreet(ctx context.Context, c Chunk, rows *rows, err error) error {
	if err == nil {
		return nil
	}
	const mend = "mend it, or run the core command on this file to see why; workers quote no data"
	path := strings.NewReplacer("\n", " ", "\r", " ").Replace(c.Path)
	var e *dataset.DataError
	if !errors.As(err, &e) || e.Row == 0 && e.Line == 0 {
		return fmt.Errorf("beam: %s: the file cannot be read as the first one was; %s", path, mend)
	}
	place, what := fmt.Sprintf("row %d", e.Row), "row"
	if e.Row == 0 {
		what = "line"
		line, err := rows.line(ctx, c, e.Line)
		place = fmt.Sprintf("line %d", line)
		if err != nil {
			place = fmt.Sprintf("line %d from byte %d on", e.Line-1, rows.start)
		}
	}
	if e.Column > 0 {
		place, what = fmt.Sprintf("%s, column %d", place, e.Column), "cell"
	}
	return fmt.Errorf("beam: %s: %s: this %s is refused: %s", path, place, what, mend)
}

// rows are the lines of a chunk, as a file of its own, and where they come from.
type rows struct {
	io.Reader
	start   int64 // byte of the file at which the first line after the header begins
	dropped []int // for each line that was left out, how many had been kept before it, with the header
}

// line is the file's line, from 1, of a line of the rows.
func (r *rows) line(ctx context.Context, c Chunk, line int) (int, error) {
	if r == nil || line <= 1 {
		return line, nil
	}
	before := 0
	for _, kept := range r.dropped {
		if kept < line {
			before++
		}
	}
	fs, err := filesystem.New(ctx, c.Path)
	if err != nil {
		return 0, err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, c.Path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var counted lineCounter
	if _, err := io.CopyN(&counted, f, r.start); err != nil {
		return 0, err
	}
	return int(counted) + before + line - 1, nil
}

type lineCounter int

func (n *lineCounter) Write(b []byte) (int, error) {
	*n += lineCounter(bytes.Count(b, []byte{'\n'}))
	return len(b), nil
}
