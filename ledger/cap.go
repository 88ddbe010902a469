package ledger

// Caps, and the terms a data set keeps.

import (
	"context"
	"time"

	"github.com/curveil/curveil/privacy"
)

// CapChange sets, changes or removes a cap. The terms are needed for a data set that the ledger does not know yet
// (the currency follows from the cap; the adjacency is replace-one when empty) and checked where they are given.
type CapChange struct {
	Dataset string
	Who     string
	Cap     privacy.Guarantee // privacy.GDP, ZCDP or Approx; Geo or ConcentratedGeo for those currencies; nil for no cap
	At      time.Time         // zero for now

	Unit      string
	Adjacency privacy.Adjacency
	Metric    privacy.Metric
	Distance  string
}

// SetCap records a cap. It may lie below what is spent: then nothing more fits.
func (l *Ledger) SetCap(ctx context.Context, c CapChange) error {
	if err := checkName("data set name", c.Dataset); err != nil {
		return err
	}
	if err := checkName("who", c.Who); err != nil {
		return err
	}
	if c.Cap != nil {
		if err := c.Cap.Validate(); err != nil {
			return err
		}
		if _, err := limitOf(c.Cap); err != nil {
			return err
		}
	}
	err := l.write(ctx, c.Dataset, func(w *writer) error {
		at := stamp(c.At)
		if w.state == nil {
			if c.Cap == nil {
				return w.unknown(ctx)
			}
			terms, err := c.terms()
			if err != nil {
				return err
			}
			if err := w.create(ctx, terms, c.Who, at); err != nil {
				return err
			}
		}
		have := w.state.terms
		want := Terms{Currency: have.Currency, Unit: or(c.Unit, have.Unit), Adjacency: or(c.Adjacency, have.Adjacency),
			Metric: or(c.Metric, have.Metric), Distance: or(c.Distance, have.Distance)}
		if c.Cap != nil {
			want.Currency = currencyOf(c.Cap)
		}
		if err := agree(c.Dataset, have, want); err != nil {
			return err
		}
		_, err := w.add(ctx, row{kind: string(Capped), at: at, who: c.Who}, &state{terms: have, cap: c.Cap, spent: w.state.spent})
		return err
	})
	return wrap("setting the cap of", c.Dataset, err)
}

// terms returns the terms of a data set that begins with this cap.
func (c CapChange) terms() (Terms, error) {
	if c.Unit == "" {
		return Terms{}, refused("ledger: data set %q is new to the ledger: say what one protected person is called, such as \"patient\", with the unit name option", c.Dataset)
	}
	s := privacy.Statement{Guarantee: c.Cap, Unit: c.Unit, Adjacency: c.Adjacency, Metric: c.Metric, Distance: c.Distance}
	if currencyOf(c.Cap) == GDP {
		s.Adjacency = or(s.Adjacency, privacy.ReplaceOne)
	}
	return termsOf(s), s.Validate()
}

func or[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

// agree refuses terms other than those of the first use.
func agree(dataset string, have, want Terms) error {
	for _, f := range [][3]string{
		{"currency", string(have.Currency), string(want.Currency)},
		{"unit of privacy", have.Unit, want.Unit},
		{"adjacency", string(have.Adjacency), string(want.Adjacency)},
		{"metric", string(have.Metric), string(want.Metric)},
		{"unit of distance", have.Distance, want.Distance},
	} {
		if f[1] != f[2] {
			return &MismatchError{Dataset: dataset, Field: f[0], Have: f[1], Want: f[2]}
		}
	}
	return nil
}
