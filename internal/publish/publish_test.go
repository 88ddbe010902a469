package publish

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/privacy"
)

func TestHardly(t *testing.T) {
	for _, c := range []struct {
		g      privacy.Guarantee
		hardly bool
	}{
		{privacy.GDP(1), false}, {privacy.GDP(9.99), false}, {privacy.GDP(10), true}, {privacy.GDP(300), true},
		{privacy.ZCDP(0.5), false}, {privacy.ZCDP(49), false}, {privacy.ZCDP(50), true},
		{privacy.Pure(8), false}, {privacy.Pure(15.1), true}, {privacy.Pure(700), true},
		{privacy.Approx{Epsilon: 8, Delta: 1e-6}, false}, {privacy.Approx{Epsilon: 110, Delta: 1e-6}, true},
		{privacy.Geo(1000), false}, {privacy.ConcentratedGeo(1000), false}, // in which unit of distance?
	} {
		errs, hardly := Hardly(c.g)
		if hardly != c.hardly {
			t.Errorf("%v: %v, want %v", c.g, hardly, c.hardly)
		}
		if hardly && errs > 3e-7 {
			t.Errorf("%v: errs in %g", c.g, errs)
		}
	}
	if errs, _ := Hardly(privacy.GDP(10)); math.Abs(errs-2.866515718791939e-07) > 1e-20 {
		t.Errorf("Φ(-5) = %v", errs)
	}
}

// Every way to spend refuses what protects almost nothing, and warns, once, where it is
// meant; also where nothing is recorded.
func TestHugeBudgets(t *testing.T) {
	for _, where := range []string{"none", filepath.Join(t.TempDir(), "ledger.db")} {
		for mu, want := range map[float64]int{1: 0, 12: 1, 1000: 1} {
			for name, spend := range map[string]func(context.Context, *Budget, privacy.Statement) error{
				"debit": func(ctx context.Context, b *Budget, s privacy.Statement) error {
					book, err := b.Open(ctx, b.stderr)
					if err != nil {
						return err
					}
					if book != nil {
						defer book.Close()
					}
					for range 2 {
						if _, err := b.Debit(ctx, book, "d", "mean", s, nil); err != nil {
							return err
						}
					}
					return nil
				},
				"person": func(ctx context.Context, b *Budget, s privacy.Statement) error {
					book, err := b.Open(ctx, b.stderr)
					if err != nil {
						return err
					}
					if book != nil {
						defer book.Close()
					}
					_, err = b.Person(book).Spend(ctx, "contribute", nil, s)
					return err
				},
			} {
				var stderr bytes.Buffer
				b := &Budget{Where: where, Dataset: "d", stderr: &stderr}
				s := privacy.Statement{Guarantee: privacy.GDP(mu), Adjacency: privacy.ReplaceOne, Unit: "person"}
				var usage flags.UsageError
				if want > 0 && !errors.As(spend(t.Context(), b, s), &usage) {
					t.Errorf("%s, %s, μ = %g was not refused", name, where, mu)
				}
				b.Weak = want > 0
				if err := spend(t.Context(), b, s); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(stderr.String(), "protects almost nothing"); n != want || strings.Contains(stderr.String(), "e+") {
					t.Errorf("%s, %s, μ = %g: %d warnings: %s", name, where, mu, n, &stderr)
				}
			}
		}
	}
}

// A large δ is as weak as a large ε.
func TestLargeDelta(t *testing.T) {
	for delta, refused := range map[float64]bool{1e-6: false, 0.01: false, 0.1: true} {
		if err := new(Budget).Accept(privacy.Approx{Epsilon: 1, Delta: delta}); (err != nil) != refused {
			t.Errorf("δ = %g: %v", delta, err)
		}
	}
}

// A mismatch with the ledger says which flag settles it.
func TestMismatchNamesTheFlag(t *testing.T) {
	b := &Budget{Where: filepath.Join(t.TempDir(), "ledger.db"), stderr: &bytes.Buffer{}}
	book, err := b.Open(t.Context(), b.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	s := privacy.Statement{Guarantee: privacy.GDP(1), Adjacency: privacy.ReplaceOne, Unit: "child"}
	if _, err := b.Debit(t.Context(), book, "d", "mean", s, nil); err != nil {
		t.Fatal(err)
	}
	s.Unit = "visit"
	if _, err := b.Debit(t.Context(), book, "d", "mean", s, nil); err == nil || !strings.Contains(err.Error(), `--unit-name "child"`) {
		t.Errorf("%v", err)
	}
}
