package curve

import (
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/fit"
	"github.com/curveil/curveil/privacy"
)

// project is project-and-privatize on the configured space ([GEO] Algorithm 2).
func (p *Privatizer) project(c fit.Curve, b *budget, d draws) (*Result, error) {
	q, err := fit.Project(c, p.config.Space)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	given, err := b.rest("release")
	if err != nil {
		return nil, err
	}
	noisy := make([]float64, len(q.Coordinates))
	if err := d.vector(given, noisy, q.Coordinates); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	law, err := noiseOf(given)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	if p.config.Continuous {
		if err := Continuous(p.config.Space, noisy, len(p.config.Components)); err != nil {
			return nil, err
		}
	}
	r, err := p.release(p.config.Space, noisy, Project, law, d)
	return &Result{Release: r}, err
}

// selectBasis is [GEO] Algorithms 3 and 7, a quarter of the budget for each of
// four steps. The functions kept depend on how single coefficients compare, so
// the law of the release depends on the basis, not only on its span: the
// default is the Legendre basis. Functions left out have coefficient 0.
func (p *Privatizer) selectBasis(c fit.Curve, b *budget, d draws) (*Result, error) {
	q, err := fit.Project(c, p.config.Space)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	n, most := len(p.config.Components), p.config.Space.Dim()
	quarter := b.base / 4

	// tail[j] is the squared distance of q from its projection on the first j.
	tail := make([]float64, most+1)
	tail[most] = q.Residual
	for j := most - 1; j >= 0; j-- {
		tail[j] = tail[j+1] + square(q.Coordinates[j*n:(j+1)*n])
	}
	given, err := b.spend("number of functions (sparse vector)", quarter)
	if err != nil {
		return nil, err
	}
	k0, err := d.first(given, -1/float64(sparseEpsilon(given)), most, func(j int) float64 { return -math.Sqrt(tail[j+1]) })
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	k0++

	given, err = b.spend("first release", quarter)
	if err != nil {
		return nil, err
	}
	noisy := make([]float64, k0*n)
	if err := d.vector(given, noisy, q.Coordinates[:k0*n]); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}

	// order: by falling magnitude of the noisy coefficients.
	order := make([]int, k0)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := square(noisy[i*n:(i+1)*n]), square(noisy[j*n:(j+1)*n])
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	given, err = b.spend("which functions (sparse vector)", quarter)
	if err != nil {
		return nil, err
	}
	// distance[r−1]: of q from the r largest noisy coefficients. From the best
	// approximation it is off by the noise in those and by the others themselves.
	distance := make([]float64, k0)
	gain := make([]float64, k0)
	for r, j := range order {
		var noise float64
		for k := range n {
			e := noisy[j*n+k] - q.Coordinates[j*n+k]
			noise += e * e
		}
		gain[r] = noise
	}
	for r := range distance {
		sum := tail[k0]
		for i, j := range order {
			if i <= r {
				sum += gain[i]
			} else {
				sum += square(q.Coordinates[j*n : (j+1)*n])
			}
		}
		distance[r] = math.Sqrt(sum)
	}
	k1, err := d.first(given, 0, k0, func(r int) float64 { return noiseNorm(given, n*(r+1)) - distance[r] })
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	kept := slices.Sorted(slices.Values(order[:k1+1]))

	given, err = b.rest("release")
	if err != nil {
		return nil, err
	}
	coordinates := make([]float64, 0, len(kept)*n)
	for _, j := range kept {
		coordinates = append(coordinates, q.Coordinates[j*n:(j+1)*n]...)
	}
	if err := d.vector(given, coordinates, coordinates); err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	law, err := noiseOf(given)
	if err != nil {
		return nil, fmt.Errorf("curve: %w", err)
	}
	full := make([]float64, most*n)
	for i, j := range kept {
		copy(full[j*n:(j+1)*n], coordinates[i*n:(i+1)*n])
	}
	r, err := p.release(p.config.Space, full, Select, law, d)
	return &Result{Release: r}, err
}

// noiseNorm is what the methods balance the distance against at a step's
// budget: the expected norm dim/ε of spherical Laplace noise, or √dim/√(2ρ).
func noiseNorm(budget privacy.Guarantee, dim int) float64 {
	epsilon := float64(sparseEpsilon(budget))
	if _, pure := budget.(privacy.Geo); pure {
		return float64(dim) / epsilon
	}
	return math.Sqrt(float64(dim)) / epsilon
}

func square(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v * v
	}
	return sum
}
