// The short text form of spaces, for flags: kind:number, or kernel:name[:scale][:points][:floor=x].

package space

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// DefaultGrid is the number of grid points of a kernel whose text form gives none.
const DefaultGrid = 50

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// formatPercent writes 100·x exactly as a decimal shift, so that parsePercent gives x back to the last bit.
func formatPercent(x float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	e += 2
	digits := strings.Replace(mantissa, ".", "", 1)
	switch {
	case e < -4 || e > 15:
		return mantissa + "e" + strconv.Itoa(e) + "%"
	case e < 0:
		return "0." + strings.Repeat("0", -e-1) + digits + "%"
	case len(digits) <= e+1:
		return digits + strings.Repeat("0", e+1-len(digits)) + "%"
	default:
		return digits[:e+1] + "." + digits[e+1:] + "%"
	}
}

func parsePercent(text string) (float64, error) {
	mantissa, exponent, found := strings.Cut(strings.ToLower(text), "e")
	e := 0
	if found {
		var err error
		if e, err = strconv.Atoi(exponent); err != nil {
			return 0, err
		}
	}
	return strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e-2), 64)
}

// defaultGrid is the grid a text form stands for.
func defaultGrid(k Kern, domain Interval, n int) Grid {
	if kind, _ := k.kind(); kind.periodic {
		return Midpoints(domain.A, domain.B, n)
	}
	return Uniform(domain.A, domain.B, n)
}

func sameGrid(g, h Grid) bool { return slices.Equal(g.T, h.T) }

// TextForms lists the text forms for help texts.
const TextForms = "legendre:6, fourier:9, cosine:8, bspline:12, piecewise:64:legendre:2, sinc:200, hermite:20, kernel:gauss:0.2 (scale in the units of t), kernel:gauss:20% (part of the domain), kernel:laplace:…, kernel:matern32:…, kernel:matern52:…, kernel:brownian, kernel:periodic:…, kernel:sobolev1, kernel:sobolev2"

// Parse reads the text form of a space on the domain: a kind and its dimension,
//
//	legendre:6   fourier:9   cosine:8   bspline:12   bspline:12:degree=2   sinc:200   hermite:20
//
// equal pieces with such a space on each,
//
//	piecewise:64:legendre:2
//
// or a kernel with its scale in the units of t or, with %, as a part of the domain's length, optionally the
// number of grid points (50) and the eigenvalue floor (1e-8),
//
//	kernel:gauss:0.2   kernel:matern32:20%   kernel:brownian:80   kernel:gauss:20%:80:floor=1e-10
//
// The grid is Uniform over the domain, or Midpoints for a periodic kernel.
func Parse(text string, domain Interval) (Space, error) {
	if err := domain.Validate(); err != nil {
		return nil, err
	}
	kind, rest, _ := strings.Cut(text, ":")
	if kind == "kernel" {
		k, n, floor, err := parseKernel(text, rest)
		if err != nil {
			return nil, err
		}
		return Kernel(k, defaultGrid(k, domain, n), Floor(floor))
	}
	if kind == "piecewise" {
		return parsePiecewise(text, rest, domain)
	}
	build, known := dimensional[kind]
	if !known {
		build, known = onLine[kind]
	}
	if !known {
		return nil, fmt.Errorf("space: unknown space %q: write one of %s", text, TextForms)
	}
	number, option, hasOption := strings.Cut(rest, ":")
	dim, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("space: %q: after %s: comes the number of functions, as in %s:9", text, kind, kind)
	}
	if value, isDegree := strings.CutPrefix(option, "degree="); isDegree && kind == "bspline" {
		degree, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("space: %q: degree %q is not a whole number: write it as in bspline:12:degree=2", text, value)
		}
		return BSpline(domain, dim, Degree(degree))
	}
	if hasOption {
		return nil, fmt.Errorf("space: %q: %q is not understood: %s takes only the number of functions, as in %s:9", text, option, kind, kind)
	}
	return build(domain, dim)
}

// dimensional holds the spaces that are given by their domain and their dimension.
var dimensional = map[string]func(Interval, int) (Space, error){
	"legendre": Legendre,
	"fourier":  Fourier,
	"cosine":   Cosine,
	"bspline":  func(domain Interval, dim int) (Space, error) { return BSpline(domain, dim) },
}

// onLine holds the spaces on the line that are given by their dimension alone: sinc functions at the
// midpoints of dim equal parts, Hermite functions that span the domain.
var onLine = map[string]func(Interval, int) (Space, error){
	"sinc": func(domain Interval, dim int) (Space, error) {
		first, spacing := midpoints(domain, max(dim, 1))
		return Sinc(domain, first, spacing, dim)
	},
	"hermite": func(domain Interval, dim int) (Space, error) {
		centre, scale := spanning(domain, max(dim, 1))
		return Hermite(domain, centre, scale, dim)
	},
}

func kinds() []string { return slices.Sorted(maps.Keys(dimensional)) }

func parseKernel(text, rest string) (k Kern, n int, floor float64, err error) {
	fields := strings.Split(rest, ":")
	k.name, fields = fields[0], fields[1:]
	n, floor = DefaultGrid, DefaultFloor
	if k.scaled() {
		if len(fields) == 0 {
			return k, n, floor, fmt.Errorf("space: %q: kernel %s needs a scale, in the units of t (kernel:%s:0.2) or as a part of the domain (kernel:%s:20%%)", text, k.name, k.name, k.name)
		}
		if part, isPercent := strings.CutSuffix(fields[0], "%"); isPercent {
			k.relative = true
			k.scale, err = parsePercent(part)
		} else {
			k.scale, err = strconv.ParseFloat(fields[0], 64)
		}
		if err != nil {
			return k, n, floor, fmt.Errorf("space: %q: scale %q is not a number: write 0.2 (units of t) or 20%% (part of the domain)", text, fields[0])
		}
		fields = fields[1:]
	}
	if err := k.validate(); err != nil {
		return k, n, floor, err
	}
	if len(fields) > 0 && !strings.HasPrefix(fields[0], "floor=") {
		if n, err = strconv.Atoi(fields[0]); err != nil {
			return k, n, floor, fmt.Errorf("space: %q: %q is not a number of grid points: write a whole number, as in kernel:%v:80", text, fields[0], k)
		}
		fields = fields[1:]
	}
	if len(fields) > 0 && strings.HasPrefix(fields[0], "floor=") {
		value := strings.TrimPrefix(fields[0], "floor=")
		if floor, err = strconv.ParseFloat(value, 64); err != nil {
			return k, n, floor, fmt.Errorf("space: %q: floor %q is not a number: write a fraction of the largest eigenvalue, as in floor=1e-10", text, value)
		}
		fields = fields[1:]
	}
	if len(fields) > 0 {
		return k, n, floor, fmt.Errorf("space: %q: %q is not understood: the form is kernel:name:scale:points:floor=x", text, fields[0])
	}
	return k, n, floor, nil
}
