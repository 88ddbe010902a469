package dataset

import (
	"bytes"
	"math"
	"strconv"
)

// Decimal numbers, missing cells, and what is neither.

// pow10 holds the powers of ten that are exact in float64.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number reads the plain decimal number that begins at b[i] and returns where
// it ends. It answers ok only where one division of two exact floats gives the
// correctly rounded value (digits below 2⁵³, at most 22 of them behind the
// point: Clinger 1990); everything else is for cell.
func number(b []byte, i int, decimal byte) (x float64, next int, ok bool) {
	negative := false
	if i < len(b) && b[i] == '-' {
		negative = true
		i++
	}
	var m uint64
	start := i
	for i < len(b) {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		m = m*10 + uint64(c)
		i++
	}
	digits := i - start
	fraction := 0
	if i < len(b) && b[i] == decimal {
		i++
		point := i
		for i < len(b) {
			c := b[i] - '0'
			if c > 9 {
				break
			}
			m = m*10 + uint64(c)
			i++
		}
		fraction = i - point
		digits += fraction
	}
	// 19 digits cannot overflow m.
	if digits == 0 || digits > 19 || m > 1<<53 {
		return 0, i, false
	}
	x = float64(m)
	if fraction > 0 {
		x /= pow10[fraction]
	}
	if negative {
		x = -x
	}
	return x, i, true
}

type cellKind uint8

const (
	cellNumber cellKind = iota
	cellMissing
	cellInfinite
	cellOverflow
	cellText
)

// cell reads a whole field. Blanks around it do not count.
func cell(f []byte, decimal byte) (float64, cellKind) {
	f = trim(f)
	if isMissing(f) {
		return math.NaN(), cellMissing
	}
	if x, next, ok := number(f, 0, decimal); ok && next == len(f) {
		return x, cellNumber
	}
	if !isDecimal(f, decimal) {
		switch unsigned := bytes.TrimLeft(f, "+-"); {
		case len(unsigned)+1 < len(f):
		case bytes.EqualFold(unsigned, []byte("inf")), bytes.EqualFold(unsigned, []byte("infinity")):
			return math.Inf(1), cellInfinite
		}
		return math.NaN(), cellText
	}
	var buf [40]byte
	digits := append(buf[:0], f...)
	if decimal != '.' {
		if i := bytes.IndexByte(digits, decimal); i >= 0 {
			digits[i] = '.'
		}
	}
	x, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		return x, cellOverflow
	}
	return x, cellNumber
}

// isDecimal reports whether f is [+-]digits[.digits][e[+-]digits]. What
// strconv reads beyond that (hexadecimal, underscores, inf) is not data.
func isDecimal(f []byte, decimal byte) bool {
	i := 0
	if i < len(f) && (f[i] == '+' || f[i] == '-') {
		i++
	}
	digits := func() int {
		n := 0
		for ; i < len(f) && f[i]-'0' <= 9; i++ {
			n++
		}
		return n
	}
	n := digits()
	if i < len(f) && f[i] == decimal {
		i++
		n += digits()
	}
	if n == 0 {
		return false
	}
	if i < len(f) && f[i]|0x20 == 'e' {
		i++
		if i < len(f) && (f[i] == '+' || f[i] == '-') {
			i++
		}
		if digits() == 0 {
			return false
		}
	}
	return i == len(f)
}

// isMissing reports whether f (trimmed) is one of the ways to write no value:
// empty, NA, N/A, NaN, null, in any case.
func isMissing(f []byte) bool {
	switch len(f) {
	case 0:
		return true
	case 2:
		return f[0]|0x20 == 'n' && f[1]|0x20 == 'a'
	case 3:
		return f[0]|0x20 == 'n' && (f[1]|0x20 == 'a' && f[2]|0x20 == 'n' || f[1] == '/' && f[2]|0x20 == 'a')
	case 4:
		return bytes.EqualFold(f, []byte("null"))
	}
	return false
}

// trim takes blanks and tabs off both ends.
func trim(f []byte) []byte {
	for len(f) > 0 && (f[0] == ' ' || f[0] == '\t') {
		f = f[1:]
	}
	for len(f) > 0 && (f[len(f)-1] == ' ' || f[len(f)-1] == '\t') {
		f = f[:len(f)-1]
	}
	return f
}
