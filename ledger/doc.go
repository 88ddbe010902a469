// Package ledger remembers what has been spent on which data set, by whom, and refuses to overspend.
//
// A verb debits before it draws noise and completes the debit once the release is written:
//
//	l, err := ledger.Open(ctx, "curveil.db")           // or postgres://user@host/database
//	receipt, err := l.Debit(ctx, ledger.Entry{Dataset: "growth", Who: "ada", Verb: "mean", Statement: s})
//	... noise, release, file ...
//	err = receipt.Complete(ctx, sha256.Sum256(file))
//
// What holds:
//
//   - A debit is committed, and synced to disk, before Debit returns. The check against the cap and the debit are one
//     transaction under a lock on the data set: of two processes racing for the last of the budget one wins.
//   - A crash between debit and Complete leaves the budget spent and the debit in the state "spent, not released". An
//     error from Debit or Complete whose cause was a lost connection may leave the same. Budget can be wasted, never
//     hidden.
//   - Composition is exact: the ledger adds decimal numbers without rounding. Spending may reach a cap, never pass it.
//   - The unit of privacy, the neighbour relation (or the metric) and the currency of a data set are fixed by its
//     first use.
//
// # Currency
//
// "gdp": the sum of μ² under μ_cap² (root of the sum of squares, valid also when each μ is chosen after seeing the
// releases before, as a filter; methods §0). A debit given as μ costs μ²; as ρ, 2ρ; as (ε, δ), the μ² of the Gaussian
// noise calibrated to it (privacy.GaussianMu): the last two presuppose that the release is Gaussian, since zCDP and
// (ε, δ)-DP alone imply no GDP. A debit given as ε of pure DP costs (2Φ⁻¹(e^ε/(1+e^ε)))², rounded up, for any mechanism.
// A cap is given as μ, ρ or (ε, δ) in the same way. "geo" and "concentrated-geo", for releases of one person's own curve:
// the sum of ε, or of ρ, under the same metric.
//
// A parameter means the decimal number it prints as: twenty-five releases of μ = 0.2 cost exactly a cap
// of μ = 1, although no float64 is 0.2. Noise of privacy.GDP.Sigma, Pure.Scale, Geo.Scale and ConcentratedGeo.Sigma honours the decimal.
//
// # Storage
//
// SQLite (embedded, one file; WAL, synchronous=FULL, immediate transactions) and PostgreSQL (row lock on the data set,
// synchronous_commit on; a server with fsync off is refused) share one schema, version 1, in schema.sql:
//
//	curveil_schema    version
//	curveil_dataset   name, events, head
//	curveil_event     dataset, seq, kind, at, who, verb, parameters, statement, debit, release, terms, cap, spent, hash
//
// The events of a data set are an append-only chain:
//
//	hash = SHA-256( ns("curveil-ledger-1") ns(previous hash) ns(dataset) ns(seq) ns(kind) ns(at) ns(who) ns(verb)
//	                ns(parameters) ns(statement) ns(debit) ns(release) ns(terms) ns(cap) ns(spent) )
//
// with ns(x) the netstring len(x) ":" x "," of the text x, numbers in decimal, hashes in lower-case hexadecimal, and
// the empty text before the first event. The data set's row holds the number of events and the last hash. Every debit checks
// the last event against them; Verify reads everything and finds altered, deleted, reordered and appended rows, a
// truncated tail, and histories that do not add up. The primary key (dataset, seq) stands behind the lock: two events cannot
// take the same place.
//
// Who can write the database can also recompute the whole chain. Against that, keep an Anchor (Receipt.Anchor, or the
// head that Show prints) elsewhere, for instance with the release, and give it to Verify.
package ledger

import _ "embed"

//go:embed schema.sql
var schemaSQL string

// schemaVersion is the version this package reads and writes.
const schemaVersion = 1
