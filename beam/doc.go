// Package beam adds up the coordinates of a cohort on an Apache Beam runner: the
// sums of packages mean and density, from files of any size on any number of
// workers, to the bit those of one process.
//
//	files → chunks → people's rows → grouped by person → fitted, exact integer sums per bundle
//	→ one sum (CombineFn) → sealed to the driver's key → the driver: ledger, noise, release
//
// The contract. The runner and its workers are trusted with the raw data, as the
// curator's own machine is: they read the files, and the shuffle holds people's
// rows until they are grouped. They hold no noise and draw none; the sum leaves the
// pipeline encrypted to a key that exists in the driver's memory only. Error
// messages name file, line and column, and never quote a cell. Nothing is logged.
// Bundles may be retried: what a failed bundle had added is dropped with it, and
// the ledger is debited by the driver, once, after the pipeline is done.
//
// Not protected: sizes and times of work, which tell the runner's operator how much
// data each person has; see docs/beam.md.
package beam
