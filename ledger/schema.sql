-- Version 1 of the ledger. The same statements run on SQLite and on PostgreSQL.
CREATE TABLE curveil_schema (
	version BIGINT NOT NULL
);
-- One row per data set: the end of its history. Whoever appends an event locks this row.
CREATE TABLE curveil_dataset (
	name   TEXT NOT NULL PRIMARY KEY,
	events BIGINT NOT NULL,            -- number of events = seq of the last one
	head   TEXT NOT NULL               -- hash of the last event, hexadecimal
);
-- The history: rows are appended, never changed. Text columns without a value hold ''.
CREATE TABLE curveil_event (
	dataset    TEXT NOT NULL REFERENCES curveil_dataset (name),
	seq        BIGINT NOT NULL,        -- 1, 2, 3, ... within the data set
	kind       TEXT NOT NULL,          -- created | capped | debited | released
	at         TEXT NOT NULL,          -- when, UTC, 2006-01-02T15:04:05.000000000Z
	who        TEXT NOT NULL,
	verb       TEXT NOT NULL,          -- debited: mean, density, ...
	parameters TEXT NOT NULL,          -- debited: canonical JSON object
	statement  TEXT NOT NULL,          -- debited: guarantee, adjacency and unit, JSON of privacy.Statement
	debit      BIGINT NOT NULL,        -- released: seq of the debit it completes; else 0
	release    TEXT NOT NULL,          -- released: SHA-256 of the release, hexadecimal
	terms      TEXT NOT NULL,          -- state after the event: currency, unit, adjacency or metric, JSON
	cap        TEXT NOT NULL,          -- state after the event: the cap as JSON guarantee, '' without one
	spent      TEXT NOT NULL,          -- state after the event: exact decimal, sum of mu^2 (gdp) or of epsilon, rho (geo)
	hash       TEXT NOT NULL,          -- SHA-256 over the previous hash and the columns above
	PRIMARY KEY (dataset, seq)
);
-- At most one release per debit, and quick to find.
CREATE UNIQUE INDEX curveil_event_debit ON curveil_event (dataset, debit) WHERE debit > 0;
INSERT INTO curveil_schema (version) VALUES (1);
