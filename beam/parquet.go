package beam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/parquet-go/parquet-go"
)

// parquet returns the file in memory where it cannot be read in place: from a store
// without random access, or without its repeated rows. It is nil where it can.
func (s Source) parquet(ctx context.Context, c Chunk) (*bytes.Reader, error) {
	if !s.Deduplicate && !strings.Contains(c.Path, "://") {
		return nil, nil
	}
	fs, err := filesystem.New(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, c.Path)
	if err != nil {
		return nil, fmt.Errorf("beam: %w", err)
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("beam: %s: %w", c.Path, err)
	}
	if s.Deduplicate {
		if data, err = distinct(data); err != nil {
			return nil, discreet(ctx, c, nil, err)
		}
	}
	return bytes.NewReader(data), nil
}

// distinct returns a Parquet file's rows without those alike in every column.
func distinct(data []byte) (out []byte, err error) {
	defer func() { // the library trusts the file
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("beam: damaged Parquet: %v", p)
		}
	}()
	if n := len(data); n < 12 || string(data[n-4:]) != "PAR1" || int64(binary.LittleEndian.Uint32(data[n-8:])) > int64(n-12) {
		return nil, errors.New("beam: damaged Parquet")
	}
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := parquet.NewWriter(&buf, file.Schema())
	seen := map[[sha256.Size]byte]bool{}
	rows := make([]parquet.Row, 256)
	var text []byte
	for _, group := range file.RowGroups() {
		r := group.Rows()
		for {
			n, err := r.ReadRows(rows)
			for _, row := range rows[:n] {
				text = text[:0]
				for _, v := range row {
					text = binary.AppendVarint(text, int64(v.Column()))
					text = append(text, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()))
					value := v.Bytes()
					text = binary.AppendUvarint(text, uint64(len(value)))
					text = append(text, value...)
				}
				h := sha256.Sum256(text)
				if seen[h] {
					continue
				}
				seen[h] = true
				if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
					return nil, errors.Join(err, r.Close())
				}
			}
			if err == io.EOF || err == nil && n == 0 {
				break
			}
			if err != nil {
				return nil, errors.Join(err, r.Close())
			}
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
