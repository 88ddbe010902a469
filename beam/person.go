package beam

import (
	"cmp"
	"errors"
	"slices"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/fit"
)

// person puts the fragments of one person together, in any order they come in, under
// the core reader's rules.
func (s Source) person(fragments []fragment) ([]fit.Curve, error) {
	slices.SortStableFunc(fragments, func(a, b fragment) int { return cmp.Compare(a.id, b.id) })
	var out []fit.Curve
	if s.Layout == dataset.Wide {
		for i, f := range fragments {
			again := i > 0 && f.id == fragments[i-1].id
			if s.Deduplicate && slices.ContainsFunc(out, func(c fit.Curve) bool { return equal(c, f.curve) }) {
				continue
			}
			if again || s.Unit == "" && len(out) > 0 {
				return nil, errors.New("beam: two rows of a wide file have the same id: if one person has several curves, name the column that tells people apart in the unit option; if rows are repeated, ask for deduplication")
			}
			out = append(out, f.curve)
		}
		return out, nil
	}
	for len(fragments) > 0 {
		n := 1
		for n < len(fragments) && fragments[n].id == fragments[0].id {
			n++
		}
		curve, err := s.join(fragments[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, curve)
		fragments = fragments[n:]
	}
	return out, nil
}

func equal(a, b fit.Curve) bool {
	return slices.EqualFunc(a, b, func(a, b fit.Series) bool { return slices.Equal(a.T, b.T) && slices.Equal(a.X, b.X) })
}

// join sorts the samples of one curve of a long file by time.
func (s Source) join(parts []fragment) (fit.Curve, error) {
	out := make(fit.Curve, len(s.Components))
	type sample struct{ t, x float64 }
	for k := range out {
		var all []sample
		for _, p := range parts {
			if len(p.curve) != len(out) {
				return nil, errFragment
			}
			for i, t := range p.curve[k].T {
				all = append(all, sample{t, p.curve[k].X[i]})
			}
		}
		slices.SortFunc(all, func(a, b sample) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.x, b.x)) })
		if s.Deduplicate {
			all = slices.Compact(all)
		}
		if len(all) == 0 || len(all) == 1 && !s.Constant {
			return nil, errors.New("beam: a curve has too few samples: give it more, take it out, or set the constant option, which extends one sample as a constant")
		}
		for i, a := range all {
			if i > 0 && a.t == all[i-1].t {
				return nil, errors.New("beam: a curve has two samples at one time: keep one, average them first, or, if rows are repeated, ask for deduplication")
			}
			out[k].T, out[k].X = append(out[k].T, a.t), append(out[k].X, a.x)
		}
	}
	return out, nil
}
