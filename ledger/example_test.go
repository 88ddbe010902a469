package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	l, err := ledger.Open(ctx, filepath.Join(dir, "curveil.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	if err := l.SetCap(ctx, ledger.CapChange{Dataset: "growth", Unit: "child", Who: "ada", Cap: privacy.GDP(1)}); err != nil {
		log.Fatal(err)
	}
	entry := ledger.Entry{
		Dataset: "growth", Who: "ada", Verb: "mean", Parameters: map[string]any{"space": "legendre:6"},
		Statement: privacy.Statement{Guarantee: privacy.GDP(0.8), Adjacency: privacy.ReplaceOne, Unit: "child"},
	}
	receipt, err := l.Debit(ctx, entry) // before any noise
	if err != nil {
		log.Fatal(err)
	}
	release := []byte("…")
	if err := receipt.Complete(ctx, sha256.Sum256(release)); err != nil {
		log.Fatal(err)
	}

	_, err = l.Debit(ctx, entry)
	var over *ledger.OverspendError
	if errors.As(err, &over) {
		fmt.Println("asked:", over.Asked)
		fmt.Println("spent:", over.Spent)
		fmt.Println("fits: ", over.Fits)
		for _, e := range over.Entries {
			fmt.Println("entry:", e.Who, e.Verb, e.Statement, e.State())
		}
	}
	// Output:
	// asked: μ = 0.8 (GDP)
	// spent: μ = 0.8 (GDP)
	// fits:  μ = 0.6 (GDP)
	// entry: ada mean μ = 0.8 (GDP), replace-one child released
}
