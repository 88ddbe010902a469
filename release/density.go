// What is particular to a density: noise in shells of frequencies, a rank chosen
// from the noisy coefficients, a constant that is known.

package release

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/curveil/curveil/space"
)

// Verb and methods of densities.
const (
	Density    = "density"
	Projection = "projection" // of a fixed rank
	Layered    = "layered"    // all ranks from one noisy vector
	Family     = "family"     // a noisy vector for each rank, the budget divided
)

// Selection says how the rank was chosen. All of it is public, and the choice is a
// function of the noisy coefficients and public numbers alone.
type Selection struct {
	Rule   string    // "lepskii-1", "lepskii-2"
	Kappa  []float64 // constants of the rule
	Shrink bool      // whether shells up to the rank were shrunk towards zero
	Rank   float64   // chosen: coefficients of higher levels are zero
}

// MarshalJSON writes {"rule":…,"kappa":[…],"shrink":…,"rank":…}.
func (s Selection) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Rule   string    `json:"rule"`
		Kappa  []float64 `json:"kappa"`
		Shrink bool      `json:"shrink"`
		Rank   float64   `json:"rank"`
	}{s.Rule, s.Kappa, s.Shrink, s.Rank})
}

func asSelection(raw json.RawMessage, path string) (*Selection, error) {
	o, err := asObject(raw, path)
	if err != nil {
		return nil, err
	}
	s := new(Selection)
	for _, step := range []func() error{
		func() error { return need(o, "rule", &s.Rule, asString) },
		func() error { return need(o, "kappa", &s.Kappa, asList(asFloat, 2)) },
		func() error { return need(o, "shrink", &s.Shrink, asBool) },
		func() error { return need(o, "rank", &s.Rank, asFloat) },
		func() error { return o.done("the block holds rule, kappa, shrink and rank") },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (n Noise) validateLayers() (at string, err error) {
	if n.Scale != 0 || n.Factor != nil {
		return ".scale", fmt.Errorf("law %q has a scale for each shell, nothing else", n.Law)
	}
	if len(n.Ranks) == 0 || len(n.Ranks) != len(n.Scales) || len(n.Ranks) > space.MaxDim {
		return ".ranks", fmt.Errorf("%d ranks and %d scales; give as many of each, at least one", len(n.Ranks), len(n.Scales))
	}
	for s, m := range n.Ranks {
		if !finite(m) || m <= 0 || s > 0 && m <= n.Ranks[s-1] {
			return fmt.Sprintf(".ranks[%d]", s), fmt.Errorf("rank %v does not come after the one before", m)
		}
		if !finite(n.Scales[s]) || n.Scales[s] <= 0 {
			return fmt.Sprintf(".scales[%d]", s), fmt.Errorf("noise scale %v must be positive and finite", n.Scales[s])
		}
	}
	return "", nil
}

// layeredScales is the standard deviation of the noise in each coefficient of
// the released rank, nil for other laws.
func (r *Release) layeredScales() []float64 {
	if r.Noise.Law != GaussianLayered {
		return nil
	}
	t, ok := r.Tensor()
	if !ok {
		return nil
	}
	return r.shellScales(t, r.rank())
}

// shellScales is the standard deviation of the noise in each coefficient up to the rank.
func (r *Release) shellScales(t *space.Tensor, rank float64) []float64 {
	scales := make([]float64, t.Dim())
	for j, l := range t.Levels() {
		if s, found := slices.BinarySearch(r.Noise.Ranks, l); l > 0 && l <= rank && (found || s < len(r.Noise.Ranks)) {
			scales[j] = r.Noise.Scales[s]
		}
	}
	return scales
}

// rank is the largest level that the released function holds.
func (r *Release) rank() float64 {
	if r.Selection != nil {
		return r.Selection.Rank
	}
	return r.Noise.Ranks[len(r.Noise.Ranks)-1]
}

func (r *Release) layeredDirection(dst, e, scales []float64) float64 {
	for j, v := range e {
		dst[j] = v * scales[j]
	}
	return norm(dst)
}

// densityBand is the band where the basis is e: around the noisy function of
// the chosen rank before shrinkage, widened to hold the released value.
func (r *Release) densityBand(e []float64, half float64) (lo, hi float64) {
	released := dot(r.Coefficients[0], e)
	centre := released
	if r.Raw != nil {
		t, ok := r.Tensor()
		if !ok {
			return math.NaN(), math.NaN()
		}
		centre = 0
		for j, l := range t.Levels() {
			if l <= r.rank() {
				centre += r.Raw[0][j] * e[j]
			}
		}
	}
	return math.Min(centre-half, released), math.Max(centre+half, released)
}

// Volume is the volume of the box, in the units of the variables: a density has
// the constant coefficient 1/Volume.
func (r *Release) Volume() float64 {
	v := 1.0
	for _, d := range r.Domains() {
		v *= d.Length()
	}
	return v
}

func (r *Release) checkDensity() error {
	if r.Variables != nil {
		if r.Box == nil || len(r.Variables) != len(r.Box.Box()) {
			return faultf(".variables", "%d names; the variables of a box have one each", len(r.Variables))
		}
		for i, name := range r.Variables {
			if err := checkText(name); err != nil {
				return &fault{fmt.Sprintf(".variables[%d]", i), err}
			}
		}
	}
	if r.Verb != Density {
		if r.Selection != nil {
			return faultf(".selection", "only a density selects a rank")
		}
		return nil
	}
	if len(r.Components) != 1 {
		return faultf(".components", "%d components; a density has one", len(r.Components))
	}
	t, ok := r.Tensor()
	if !ok {
		return faultf(".space", "a density lives in a fourier or cosine space with at least one frequency")
	}
	if s := r.Selection; s != nil {
		want := map[string]int{"lepskii-1": 1, "lepskii-2": 2}[s.Rule]
		switch {
		case r.Method == Projection:
			return faultf(".selection", "a projection has a fixed rank")
		case want == 0:
			return faultf(".selection.rule", "unknown rule %q; known are \"lepskii-1\" and \"lepskii-2\"", s.Rule)
		case len(s.Kappa) != want:
			return faultf(".selection.kappa", "%d constants, rule %q has %d", len(s.Kappa), s.Rule, want)
		case !(s.Rank >= 0) || s.Rank > float64(t.Rank()):
			return faultf(".selection.rank", "%v is no rank of %v", s.Rank, t)
		}
		for i, k := range s.Kappa {
			if !finite(k) || k < 0 {
				return faultf(fmt.Sprintf(".selection.kappa[%d]", i), "%v must be finite and not negative", k)
			}
		}
	} else if r.Method != Projection {
		return faultf(".selection", "a %s density says how its rank was chosen; the block is missing", r.Method)
	}
	want := 1 / r.Volume()
	if !finite(want) || want == 0 {
		return faultf(".space", "the volume %v of the box is no 64-bit number; use other units", r.Volume())
	}
	for _, m := range []struct {
		path string
		rows [][]float64
		rank float64
	}{{".coefficients", r.Coefficients, r.rank()}, {".raw", r.Raw, r.Noise.Ranks[len(r.Noise.Ranks)-1]}} {
		for k, row := range m.rows {
			if !(math.Abs(row[0]-want) <= 1e-12*want) {
				return faultf(fmt.Sprintf("%s[%d][0]", m.path, k), "the constant is %v; of a density with mass one it is one over the volume, %v", row[0], want)
			}
			for j, l := range t.Levels() {
				if l > m.rank && row[j] != 0 {
					return faultf(fmt.Sprintf("%s[%d][%d]", m.path, k, j), "level %v lies beyond the rank %v, where coefficients are zero", l, m.rank)
				}
			}
		}
	}
	return nil
}

// checkLayers refuses noise that is too small for the guarantee: between two
// points of the box √Σ‖Δ_s‖²/σ_s² may not exceed N·μ. It is computed from the space here
// (a value that is attained, so that a tighter certificate than this module's
// stays acceptable).
func (r *Release) checkLayers(mu float64) error {
	t, ok := r.Tensor()
	if !ok {
		return faultf(".space", "a density lives in a fourier or cosine space")
	}
	weights := make([]float64, len(r.Noise.Scales))
	for s, scale := range r.Noise.Scales {
		relative := scale * r.Volume() * float64(r.N)
		weights[s] = 1 / (relative * relative)
	}
	_, attained := t.Spread(r.Noise.Ranks, weights)
	if loss := math.Sqrt(attained); !(loss <= mu*(1+1e-9)) {
		return faultf(".noise.scales", "the noise is too small for the stated guarantee: with n %d it gives μ = %v, the guarantee allows %v", r.N, loss, mu)
	}
	return nil
}
