package beam

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

// A bad cell is one line, with the file's own line wherever chunks are cut, blank lines
// and repeated ones included, and without what is in it.
func TestBadCellIsOneLine(t *testing.T) {
	c := mean.Config{Space: must(space.Parse("legendre:3", domain)), Radius: 3, Guarantee: privacy.GDP(1), Unit: "id"}
	_, config, s := single(t, write(t, "good.csv", wideHeader, wideRows(3)), dataset.Options{}, c)
	s.Deduplicate = true
	var rows []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("p%d,1,2,3,4,5", i), "")
		if i%3 == 0 {
			rows = append(rows, rows[len(rows)-2])
		}
	}
	for _, at := range []int{0, 7, 50, len(rows)} {
		bad := append(append(append([]string{}, rows[:at]...), "q,1,2,secretcell,4,5"), rows[at:]...)
		path := write(t, "bad.csv", wideHeader, bad)
		for _, size := range []int64{0, 20, 64, 300} {
			_, err := runJob(t, Mean, s, config, size, path)
			var failed *Failure
			if !errors.As(err, &failed) {
				t.Fatalf("chunks of %d: %v", size, err)
			}
			want := fmt.Sprintf("beam: %s: line %d, column 4: this cell is refused: mend it, or run the core command on this file to see why; workers quote no data; nothing was released and nothing spent", path, at+2)
			if err.Error() != want {
				t.Errorf("chunks of %d:\n%s\n%s", size, err, want)
			}
			if strings.Contains(failed.Runner.Error(), "secret") {
				t.Errorf("the runner was told the data: %v", failed.Runner)
			}
		}
	}
	cut := filepath.Join(t.TempDir(), "cut.parquet")
	if err := os.WriteFile(cut, []byte("PAR1secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runJob(t, Mean, s, config, 0, cut); err == nil || !strings.Contains(err.Error(), "cut.parquet: the file cannot be read") || strings.ContainsAny(err.Error(), "\n") {
		t.Errorf("a file that is no Parquet: %v", err)
	}
}
