package ledger

import (
	"context"
	"crypto/sha256"

	"github.com/curveil/curveil/privacy"
)

// Person is one person's own ledger, on that person's device: what a client spends from before anything derived from the
// person's data leaves the device. It satisfies regression.Ledger.
type Person struct {
	Ledger  *Ledger
	Dataset string // the name of the person's data in the ledger, such as "me"
	Who     string // who spends, such as the name of the program or the user
}

// Spend debits the person's data set; complete books the SHA-256 of what was released for it.
func (p Person) Spend(ctx context.Context, verb string, parameters any, s privacy.Statement) (complete func(ctx context.Context, release [sha256.Size]byte) error, err error) {
	receipt, err := p.Ledger.Debit(ctx, Entry{Dataset: p.Dataset, Who: p.Who, Verb: verb, Parameters: parameters, Statement: s})
	if err != nil {
		return nil, err
	}
	return receipt.Complete, nil
}
