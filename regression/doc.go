// Package regression learns a regression curve from a stream of people, each of whom contributes one (x, y)
// that leaves the person's device only as a noisy gradient: robust functional stochastic gradient descent and its
// locally private form ([REG], Online robust locally differentially private learning for nonparametric regression,
// 2025; methods §5).
//
//	φ(x) = e(x)·min(1, B/‖e(x)‖)                 coordinates of a person's x in a space of functions, ‖φ(x)‖ ≤ B
//	g    = ℓ_τ(y − a·φ(x))·φ(x) + N(0, s²I)      on the device, at the published a; ℓ_τ(u) = u cut to [−τ, τ]
//	a    ← a + γ_n g                             on the server
//	ā    = average of the a                      the estimate
//
// In a kernel space the coordinates are those of the reproducing kernel Hilbert space, so this is the paper's
// recursion on a grid of J centres, at O(r) per step instead of O(J²), r the number of kept eigenfunctions.
//
//	[Stream]   what is public: space, τ, B, steps, budget, staleness
//	[Model]    a stream and its current coordinates, as published
//	[Client]   a person's side: model, x, y → Report; keeps the person's own ledger
//	[Server]   applies reports, averages; Model, Release, snapshots
//	[SGD]      the recursion without privacy, for whoever holds the data
//	[Simulate] clients and server in one process; [NewPlan] predicts the error from public guesses
//
// # What is protected
//
// One report is (ε,δ)-differentially private in the local model: for any two (x, y), (x′, y′) of the person, whatever the
// model published, the laws of the report are within (ε,δ). That a report was sent, when, and at which version of
// the model is not protected; nor is the time its computation took. A second report about the same (x, y)
// composes with the first: the client spends for each, from the person's own ledger. Proof note: docs/privacy.md#regression.
//
// τ, B, the space, the steps and the budget are public and must not be read off the stream: see [PilotTau].
package regression
