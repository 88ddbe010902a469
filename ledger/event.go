package ledger

// One row of the history, its text form in the database and its hash.

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/curveil/curveil/privacy"
)

// Kind says what an event records.
type Kind string

// The kinds of event.
const (
	Created  Kind = "created"  // the data set's first use: its terms are fixed
	Capped   Kind = "capped"   // a cap was set, changed or removed
	Debited  Kind = "debited"  // budget was spent, before any noise was drawn
	Released Kind = "released" // the release of a debit was written
)

// Terms are fixed by the first use of a data set.
type Terms struct {
	Currency  Currency          `json:"currency"`
	Unit      string            `json:"unit"`                // the unit of privacy
	Adjacency privacy.Adjacency `json:"adjacency,omitempty"` // currency gdp
	Metric    privacy.Metric    `json:"metric,omitempty"`    // geo currencies
	Distance  string            `json:"distance,omitempty"`  // geo currencies: the unit of distance
}

func termsOf(s privacy.Statement) Terms {
	return Terms{Currency: currencyOf(s.Guarantee), Unit: s.Unit, Adjacency: s.Adjacency, Metric: s.Metric, Distance: s.Distance}
}

// Event is one row of a data set's history.
type Event struct {
	Dataset    string
	Seq        int64 // 1, 2, 3, … within the data set
	Kind       Kind
	At         time.Time
	Who        string
	Verb       string            // Debited
	Parameters json.RawMessage   // Debited: canonical JSON object
	Statement  privacy.Statement // Debited
	Debit      int64             // Released: Seq of the debit
	ReleasedBy int64             // Debited: Seq of the event that completed it, 0 without one
	Release    string            // Released, and Debited once released: SHA-256 of the release, hexadecimal
	Cap        privacy.Guarantee // after the event; nil without one
	Spent      privacy.Guarantee // after the event, rounded up, as privacy.GDP, Geo or ConcentratedGeo
	Hash       string            // hexadecimal
}

// State returns "released" or "spent, not released" for a debit, the kind for every other event.
func (e Event) State() string {
	switch {
	case e.Kind != Debited:
		return string(e.Kind)
	case e.ReleasedBy != 0:
		return "released"
	}
	return "spent, not released"
}

// row is an event as stored.
type row struct {
	dataset                    string
	seq                        int64
	kind, at, who, verb        string
	parameters, statement      string
	debit                      int64
	release, terms, cap, spent string
	hash                       string
}

const columns = "dataset, seq, kind, at, who, verb, parameters, statement, debit, release, terms, cap, spent, hash"

func (r *row) fields() []any {
	return []any{&r.dataset, &r.seq, &r.kind, &r.at, &r.who, &r.verb, &r.parameters, &r.statement, &r.debit, &r.release, &r.terms, &r.cap, &r.spent, &r.hash}
}

// chain returns the row's hash after the given one; the layout is in the package documentation.
func (r *row) chain(previous string) string {
	h := sha256.New()
	for _, s := range []string{
		"curveil-ledger-1", previous, r.dataset, strconv.FormatInt(r.seq, 10), r.kind, r.at, r.who, r.verb, r.parameters,
		r.statement, strconv.FormatInt(r.debit, 10), r.release, r.terms, r.cap, r.spent,
	} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// timeLayout keeps nanoseconds, zeros included, so that a time has one text.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// state is what an event leaves behind.
type state struct {
	terms Terms
	cap   privacy.Guarantee
	spent *big.Rat
}

// put writes the state into a row.
func (s *state) put(r *row) error {
	terms, err := canonical(s.terms)
	if err != nil {
		return err
	}
	r.terms, r.cap, r.spent = terms, "", formatDecimal(s.spent)
	if s.cap != nil {
		data, err := privacy.MarshalGuarantee(s.cap)
		if err != nil {
			return err
		}
		r.cap = string(data)
	}
	return nil
}

// reader reads rows of one data set. Neighbouring events mostly repeat terms and cap, so it keeps the last ones read.
type reader struct {
	terms, cap string
	read       state
	known      bool
}

// state reads the state out of a row; strict: it must be what put writes.
func (p *reader) state(r *row) (*state, error) {
	spent, err := parseDecimal(r.spent)
	if err != nil {
		return nil, fmt.Errorf("spent: %w", err)
	}
	if !p.known || r.terms != p.terms || r.cap != p.cap {
		if p.read, err = parseState(r.terms, r.cap); err != nil {
			return nil, err
		}
		p.terms, p.cap, p.known = r.terms, r.cap, true
	}
	return &state{terms: p.read.terms, cap: p.read.cap, spent: spent}, nil
}

func parseState(terms, limit string) (s state, err error) {
	if err := json.Unmarshal([]byte(terms), &s.terms); err != nil {
		return s, fmt.Errorf("terms %q: %w", terms, err)
	}
	if limit != "" {
		if s.cap, err = privacy.UnmarshalGuarantee([]byte(limit)); err != nil {
			return s, fmt.Errorf("cap %q: %w", limit, err)
		}
	}
	s.spent = new(big.Rat)
	var again row
	if err := s.put(&again); err != nil {
		return s, err
	}
	if again.terms != terms || again.cap != limit {
		return s, fmt.Errorf("terms %q and cap %q are not as this package writes them", terms, limit)
	}
	return s, nil
}

// event returns the row for reading.
func (p *reader) event(r *row) (Event, error) {
	s, err := p.state(r)
	if err != nil {
		return Event{}, damaged(r.dataset, r.seq, err)
	}
	e := Event{
		Dataset: r.dataset, Seq: r.seq, Kind: Kind(r.kind), Who: r.who, Verb: r.verb, Debit: r.debit, Release: r.release,
		Cap: s.cap, Spent: guaranteeUp(s.terms.Currency, s.spent), Hash: r.hash,
	}
	if e.At, err = time.Parse(timeLayout, r.at); err != nil {
		return Event{}, damaged(r.dataset, r.seq, err)
	}
	if e.Kind == Debited {
		e.Parameters = json.RawMessage(r.parameters)
		if err := e.Statement.UnmarshalJSON([]byte(r.statement)); err != nil {
			return Event{}, damaged(r.dataset, r.seq, err)
		}
	}
	return e, nil
}
