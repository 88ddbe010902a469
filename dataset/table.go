package dataset

import (
	"fmt"
	"os"
)

// Small public tables beside the data: a reference curve, a grid.

// ReadTable reads a CSV file of two columns, time and value, or of one, a
// grid of times (x is then nil). A header line may lead. Times must increase
// strictly and nothing may be missing. Errors are *DataError, as for people.
func ReadTable(path string) (t, x []float64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	org := origin{file: path}
	s := newScanner(f)
	head := s.peek()
	if s.err != nil {
		return nil, nil, fmt.Errorf("dataset: %s: %w", path, s.err)
	}
	if len(head) >= len(bom) && string(head[:len(bom)]) == string(bom) {
		s.pos += len(bom)
		head = head[len(bom):]
	}
	if err := checkText(org, head); err != nil {
		return nil, nil, err
	}
	c := &csvTable{origin: org, s: s, sep: separator(head, s.eof)}
	if c.decimal, err = decimalSign(org, sample(head, s.eof, c.sep), c.sep); err != nil {
		return nil, nil, err
	}
	for row := 0; s.next(); row++ {
		fields, err := s.fields(c.sep)
		if err != nil {
			return nil, nil, org.at(s.line, 0, "", err.Error(), quoteFix)
		}
		if row == 0 {
			c.names = []string{"t", "value"}[:min(len(fields), 2)]
			header := true
			for i, f := range fields[:len(c.names)] {
				_, what := cell(f, c.decimal)
				header = header && what == cellText
				if what == cellText {
					c.names[i] = string(trim(f))
				}
			}
			if header && len(fields) <= 2 {
				continue
			}
		}
		if len(fields) != len(c.names) {
			return nil, nil, org.at(s.line, 0, "", "the row has "+count(len(fields), "field")+", where a table has time and value (or a grid of times: one field)",
				"give every row the same one or two fields")
		}
		for i, f := range fields {
			v, err := c.value(i, f)
			if err != nil {
				return nil, nil, err
			}
			if v != v {
				return nil, nil, c.fault(i, "the cell is empty or missing", "fill it in, or take the row out")
			}
			if i == 1 {
				x = append(x, v)
				continue
			}
			if len(t) > 0 && v <= t[len(t)-1] {
				return nil, nil, c.fault(i, fmt.Sprintf("time %g does not come after %g", v, t[len(t)-1]), "sort the rows by time and keep one per time")
			}
			t = append(t, v)
		}
	}
	if err := c.readError(); err != nil {
		return nil, nil, err
	}
	if len(t) == 0 {
		return nil, nil, org.at(0, 0, "", "the table has no rows", "it needs at least one time")
	}
	return t, x, nil
}
