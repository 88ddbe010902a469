// Package collector is the service around package regression: people's devices send noisy gradients over HTTP, a durable
// log keeps them, and the estimate is a fold over the log.
//
//	report ─HTTP→ queue ─group→ log (one synced message for the group) ─fold→ estimate ─→ acknowledgement
//
// What holds:
//
//   - A report is acknowledged after it is in the log and the log is synced to disk. Reports that arrive while a sync runs
//     wait for the next one together: one message, one sync, many acknowledgements.
//   - The estimate is a function of the log, to the bit. A snapshot is a shortcut for reading the log again, tied to it by
//     the sequence number and the SHA-256 of the last message; a damaged one is passed over.
//   - A report is applied once, whatever is repeated, by whom, and across restarts: its id is part of the folded state.
//   - Whoever runs the collector sees reports, which are (ε,δ)-private by themselves (package regression), and when and from
//     what address they came; addresses are used for rate limits in memory and are not logged. Where invitations
//     are used, the log holds the SHA-256 of the invitation beside its report: whoever knows to whom an invitation was
//     given can tell which report is that person's.
//
// The log is NATS JetStream, embedded in the process or an external cluster. docs/collector.md has the formats of log and
// snapshot, the HTTP API and how to run it.
package collector
