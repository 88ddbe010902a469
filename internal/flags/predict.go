package flags

import (
	"fmt"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
)

// The error to expect of a release, in words, from public numbers.

// PredictMean is about a mean of n people.
func PredictMean(c mean.Config, n int64) string {
	c.N = n
	plan, err := mean.NewPlan(mean.PlanConfig{Config: c})
	if err != nil {
		return ""
	}
	for _, p := range plan.Predictions {
		if p.Method == c.Method {
			each := ""
			if len(c.Components) > 1 {
				each = fmt.Sprintf(" in each component, %.3g in all together", p.Together)
			}
			return fmt.Sprintf("an error of about %.3g root-mean-square%s (the noise added: %.3g), if curves are as far from the center as the bound allows", p.Error, each, p.PrivacyNoise)
		}
	}
	return ""
}

// PredictBound is about a bound that n people buy.
func PredictBound(c mean.BoundConfig, n int64) string {
	c.N = n
	within, err := mean.PlanBound(c)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("a bound within which surely %.0f%% to %.0f%% of the people lie (asked: %.0f%%)", 100*within[0], 100*within[1], 100*c.Quantile)
}

// PredictDensity is about a density of n people.
func PredictDensity(c density.Config, n int64) string {
	c.N = n
	plan, err := density.NewPlan(density.PlanConfig{Config: c})
	if err != nil {
		return ""
	}
	for _, p := range plan.Fixed {
		if p.Rank == plan.Best {
			return fmt.Sprintf("a mean integrated squared error of about %.3g at rank %d, the square of the uniform density being 1, for a density as smooth as one wave across the box; with peaks it is far larger, and 'curveil plan density --peaks W' says how large", p.Error, p.Rank)
		}
	}
	return ""
}
