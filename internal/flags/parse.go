package flags

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

// Float reads a finite number.
func Float(flag, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, Usagef("%s: %q is not a number", flag, text)
	}
	return v, nil
}

// Domain reads a:b.
func Domain(flag, text string) (d space.Interval, err error) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		return d, Usagef("%s %q: write a:b, such as 1:18", flag, text)
	}
	if d.A, err = Float(flag, a); err != nil {
		return d, err
	}
	if d.B, err = Float(flag, b); err != nil {
		return d, err
	}
	if err := d.Validate(); err != nil {
		return d, Usagef("%s %q: %w", flag, text, err)
	}
	return d, nil
}

// Grid reads a:b:count or a list of numbers.
func Grid(flag, text string) ([]float64, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return List(flag, text)
	}
	d, err := Domain(flag, parts[0]+":"+parts[1])
	if err != nil {
		return nil, err
	}
	return uniform(flag, text, d, parts[2])
}

func uniform(flag, text string, d space.Interval, count string) ([]float64, error) {
	n, err := strconv.Atoi(count)
	if err != nil || n < 2 || n > 100000 {
		return nil, Usagef("%s %q: the count must be a whole number from 2 to 100000", flag, text)
	}
	return space.Uniform(d.A, d.B, n).T, nil
}

// List reads numbers separated by commas.
func List(flag, text string) (out []float64, err error) {
	for _, p := range strings.Split(text, ",") {
		v, err := Float(flag, p)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Center reads --center: one public reference curve for each component.
func Center(text string, components int) (refs []release.Reference, err error) {
	if text == "" {
		return nil, nil
	}
	list, constant := strings.CutPrefix(text, "const:")
	if constant = constant || isNumber(strings.Split(text, ",")[0]); constant {
		values, err := List("--center", list)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			refs = append(refs, release.Constant(v))
		}
	} else {
		for _, path := range strings.Split(text, ",") {
			t, x, err := dataset.ReadTable(path)
			if err != nil {
				return nil, fmt.Errorf("--center %s: %w", path, err)
			}
			r, err := release.Table(t, x)
			if err != nil {
				return nil, Usagef("--center %s: %w", path, err)
			}
			refs = append(refs, r)
		}
	}
	if len(refs) == 1 {
		for len(refs) < components {
			refs = append(refs, refs[0])
		}
	}
	if len(refs) != components {
		return nil, Usagef("--center gives %s for %s: give one for all, or one for each", count(len(refs), "curve"), count(components, "component"))
	}
	return refs, nil
}

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
