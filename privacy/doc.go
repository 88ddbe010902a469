// Package privacy holds the guarantees a release can carry, their exact conversions into each other,
// their composition, and the calibration of Gaussian noise to them.
//
// The types are distinct, so that a μ, a ρ and an ε cannot be passed for one another:
//
//	GDP              μ        Gaussian differential privacy (Dong, Roth, Su 2022)
//	ZCDP             ρ        zero-concentrated differential privacy (Bun, Steinke 2016)
//	Pure             ε        pure differential privacy
//	Approx           ε, δ     approximate differential privacy
//	Geo              ε        metric ("geo") privacy, ε per unit of distance
//	ConcentratedGeo  ρ        concentrated geo-privacy, ρ per squared unit of distance
//
// # Direction of rounding
//
// Whatever is said about the loss of a release is rounded up, whatever is granted to a release is rounded
// down; no rounding of this package makes a release look more private than it is:
//
//	GDP.Delta, GDP.Epsilon, ZCDP.Delta, ZCDP.Epsilon, Pure.Delta, Pure.Epsilon      not below the exact value
//	GDP.ZCDP, Pure.GDP, Pure.ZCDP, Geo.Concentrated, Geo.At, ConcentratedGeo.At     not below the exact value
//	ComposeGDP, ComposeZCDP, ComposePure, ComposeGeo, ComposeConcentratedGeo        not below the exact value
//	GDP.Sigma, Pure.Scale, Geo.Scale, ConcentratedGeo.Sigma (scales of noise)       not below the exact value
//	GaussianMu (the μ that a guarantee allows)                                      not above the exact value
//	GDP.Tradeoff (the error an attacker must make), MuThrough                       not above the exact value
//
// The elementary operations are rounded exactly in one direction (AddUp, MulUp, DivUp, SqrtUp and their
// Down counterparts, by error-free transformations). Functions of the normal law are computed with a
// relative error that is bounded in the code and then moved by that bound; the tests compare them with
// values of 60 decimal digits.
//
// Arguments outside the domain (a negative ε, a δ of zero, NaN) give the statement that is always true:
// δ = 1, ε = +Inf. Validate is what refuses them with a reason.
package privacy
