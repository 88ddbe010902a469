// Package simulate draws the seeded pseudo-random numbers of simulations:
// predicted errors, simultaneous bands, demonstration cohorts. Nothing it
// draws protects anybody; noise that does comes from package noise.
package simulate

import "math/rand/v2"

// Rand is the generator, so that its users need not import what could draw
// unseeded numbers.
type Rand = rand.Rand

// New returns a generator whose sequence depends only on the seed, so that
// a plan or a band printed twice is the same twice.
func New(seed uint64) *Rand {
	return rand.New(rand.NewPCG(seed, 0x63757276_65696c00))
}
