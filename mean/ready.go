package mean

import (
	"errors"
	"fmt"

	"github.com/curveil/curveil/privacy"
)

// Ready finishes all pending fits and reports whatever would keep Release from
// succeeding, so that a caller can debit a ledger between the two: nothing has
// been drawn or spent yet.
func (m *Mean) Ready() error {
	if m.done {
		return errReleased
	}
	if _, err := m.total(); err != nil {
		return err
	}
	n := m.n
	if n == 0 {
		return errors.New("mean: nobody was added: there is nothing to release")
	}
	if m.cfg.N != 0 && n != m.cfg.N {
		return fmt.Errorf("mean: %d people were added, but the public number was stated as %d", n, m.cfg.N)
	}
	return nil
}

// Statement is what a release of this configuration guarantees, to whom.
func (c Config) Statement() privacy.Statement { return c.statement() }
