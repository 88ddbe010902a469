// Package noise draws exactly distributed integer noise. Nothing else in
// curveil draws noise.
//
// # Contract
//
// Every Rounded method returns round(scale·Y) for an ideal real-valued deviate
// Y (normal, exponential, Laplace, spherical Laplace), with exactly that law
// when the words of the Source are independent and uniform. No floating-point
// number takes part: scale, a float64, is read as the dyadic rational m·2^e
// that it is. Added to an integer, the noise is therefore a post-processing of
// the ideal mechanism,
//
//	n + round(scale·Y) = round(n + scale·Y)  for every integer n,
//
// and keeps its guarantee (μ-GDP, zCDP, ε-DP) without a term for rounding,
// low bits or missing values.
//
// # Why it is exact
//
// A uniform deviate on (0,1) is an infinite sequence of independent digits in
// base 2^64 of which only a prefix is drawn; the prefix says that the deviate
// lies in an interval. Each sampler is a real-number algorithm that uses its
// deviates only in strict comparisons (with another deviate, with a rational
// function of another, or with a constant bracketed to as many digits) and at
// last in one rounding. A comparison is
// answered only when it has the same answer for all points of the intervals
// known so far; otherwise further digits are appended and the question is put
// again. By induction over the comparisons, the run takes the same branches as
// the real-number algorithm does on the infinite sequences, which are
// independent and uniform because each digit is drawn once, fresh, and never
// replaced. So the result is the real-number algorithm's result, almost surely
// after finitely many digits. In particular the digits not drawn yet when a
// deviate is accepted are still uniform, and the rounding may go on drawing
// them.
//
// # What it relies on, and what it does not protect
//
// The words come from ChaCha8: the laws hold against an adversary who cannot
// tell it from uniform bits. The time a draw takes depends on the value drawn
// (rejection, extension of digits): timing is not protected. Results saturate
// at ±(2^63−1), which is post-processing too; at [MaxScale] the probability of
// that is below 2^-11000 for a normal deviate and below 2^-180 for an
// exponential or Laplace one.
package noise
