// Package curve releases one person's own curve or track from the person's own
// device, under metric privacy: for any two curves q and q′,
//
//	Pr[M(q) ∈ S] ≤ e^{ε·dist(q,q′)} · Pr[M(q′) ∈ S]        (privacy.Geo)
//	D_α(M(q) ‖ M(q′)) ≤ α·ρ·dist(q,q′)²  for all α > 1     (privacy.ConcentratedGeo)
//
// with dist the root mean square distance over a public window (metric rms, the
// default: ε is per unit of the values), or its product with √(length of the
// window) (metric l2, the form of [GEO], Liang, Shu, Yi 2026).
//
// The curve is the piecewise linear interpolant of its samples, constant before
// the first and after the last one. Methods:
//
//	project  the projection on a given space, plus noise                      [GEO] Algorithm 2
//	select   as many basis functions as a sparse vector run finds useful       [GEO] Algorithms 3, 7
//	segment  as many equal pieces as a sparse vector run finds useful, fewer
//	         where a noisy check allows                                        [GEO] Algorithms 4, 5, 8, 9
//	denoise  one release at the full budget on a fine public level; then the
//	         posterior of a Gaussian process whose local roughness is fitted to
//	         the noisy values: post-processing, which costs nothing            methods §4
//
// What a release depends on: projections and threshold answers with noise, and
// public configuration. The window, the metric, the number of components and
// everything else in [Config] are public. Not protected, and therefore not
// used for anything but the interpolation: sampling times and their number. The
// output is a function on the window; read it off on a public grid.
//
// Releasing the same curve again composes: budgets add up.
package curve
