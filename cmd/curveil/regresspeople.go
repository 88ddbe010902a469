package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/nearest"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// peopleTable is the people that regress plays. It is read twice: whatever is wrong with it is found before anything is spent.
type peopleTable struct {
	path    string
	options dataset.PointOptions // the last column is y
	box     []space.Interval
	text    []byte // of standard input
}

// newPeopleTable takes standard input into memory.
func newPeopleTable(path string, stdin io.Reader, o dataset.PointOptions, box []space.Interval) (*peopleTable, error) {
	t := &peopleTable{path: path, options: o, box: box}
	if path != "-" {
		return t, nil
	}
	var err error
	if t.text, err = io.ReadAll(stdin); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return t, nil
}

func (t *peopleTable) open() (*dataset.Points, error) {
	var file *dataset.Points
	var err error
	if t.path == "-" {
		file, err = dataset.NewPointsCSV(bytes.NewReader(t.text), "standard input", t.options)
	} else {
		file, err = dataset.OpenPoints(t.path, t.options)
	}
	return file, t.explain(err)
}

// explain names the flag behind a column that is not there, and the column that may have been meant.
func (t *peopleTable) explain(err error) error {
	var d *dataset.DataError
	if !errors.As(err, &d) {
		return err
	}
	for i, name := range t.options.Columns {
		flag := "--x"
		if i == len(t.options.Columns)-1 {
			flag = "--y"
		}
		if !strings.Contains(d.Msg, "the columns option") || !slices.Contains(quoted(d.Msg), name) {
			continue
		}
		out := *d
		out.Msg = fmt.Sprintf("there is no column %q, which %s names", name, flag)
		if near := nearest.Of(name, quoted(d.Fix)); near != "" {
			out.Fix = fmt.Sprintf("did you mean %s %s? %s", flag, near, d.Fix)
		}
		return usageError{&out}
	}
	if strings.Contains(d.Msg, "named twice in the columns option") {
		out := *d
		out.Msg, out.Fix = "--x and --y name the column twice", "name each column once"
		return usageError{&out}
	}
	return err
}

// quoted is what stands between quotation marks, as the errors of dataset have them.
func quoted(text string) (out []string) {
	for i, part := range strings.FieldsFunc(" "+text+" ", func(c rune) bool { return c == '\'' || c == '"' }) {
		if i%2 == 1 {
			out = append(out, part)
		}
	}
	return out
}

// each calls do with every person's points and the line of the first.
func (t *peopleTable) each(do func(points [][]float64, line int) error) error {
	file, err := t.open()
	if err != nil {
		return err
	}
	defer file.Close()
	var person [][]float64
	for file.Next() {
		x, _, line := file.Person()
		person = person[:0]
		for d := len(t.options.Columns); len(x) >= d; x = x[d:] {
			person = append(person, x[:d])
		}
		if err := do(person, line); err != nil {
			return err
		}
	}
	return file.Err()
}

// check reads everybody and returns their number. x outside the domain is an error, unless it is to count as the nearest point:
// then the number of such rows is returned, which nobody but the curator may see.
func (t *peopleTable) check(p *flags.Points, stated int64, clamp bool) (n, outside int64, err error) {
	if p.O.Unit == "" {
		file, err := t.open()
		if err != nil {
			return 0, 0, err
		}
		column := file.PersonColumn()
		file.Close()
		if err := p.CheckPeople(column); err != nil {
			return 0, 0, err
		}
	}
	var first error
	err = t.each(func(points [][]float64, line int) error {
		n++
		for row, point := range points {
			for i, d := range t.box {
				if d.Contains(point[i]) {
					continue
				}
				if outside++; first == nil {
					first = t.outsideAt(line, row, i, point[i])
				}
				break
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, 0, err
	case n == 0:
		return 0, 0, fmt.Errorf("%s: no rows: there is nothing to release", t.name())
	case stated != 0 && n != stated:
		return 0, 0, fmt.Errorf("%s has %s, but the public number was stated as %d", t.name(), peopleCount(n), stated)
	case outside > 0 && !clamp:
		more := ""
		if outside > 1 {
			more = fmt.Sprintf(", as do %d more rows (a number read off the data: not to be published)", outside-1)
		}
		return 0, 0, fmt.Errorf("%w%s; nothing was spent. Is it the right unit and column? --domain must reach as far as x can, by public knowledge; --outside clamp takes x to the nearest point of the domain", first, more)
	}
	return n, outside, nil
}

func (t *peopleTable) outsideAt(line, row, column int, x float64) error {
	place := fmt.Sprintf("%s:%d", t.name(), line)
	if row > 0 {
		place += fmt.Sprintf(", row %d of the person who begins there", row+1)
	}
	d := t.box[column]
	return fmt.Errorf("%s: column %q: %g lies outside --domain %g:%g", place, t.options.Columns[column], x, d.A, d.B)
}

func (t *peopleTable) name() string {
	if t.path == "-" {
		return "standard input"
	}
	return t.path
}

func peopleCount(n int64) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// people are everybody's points, for the simulation.
func (t *peopleTable) people(failed *error) iter.Seq[[]regression.Point] {
	return func(yield func([]regression.Point) bool) {
		stop := errors.New("stopped")
		var points []regression.Point
		err := t.each(func(rows [][]float64, _ int) error {
			points = points[:0]
			for _, row := range rows {
				points = append(points, regression.Point{X: row[:len(row)-1], Y: row[len(row)-1]})
			}
			if !yield(points) {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			*failed = err
		}
	}
}
