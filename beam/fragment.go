package beam

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/curveil/curveil/fit"
)

// A fragment is what one chunk holds of one curve, on its way through the shuffle:
// the curve's id, then each component's times and values, little-endian.

type fragment struct {
	id    string
	curve fit.Curve
}

func (f fragment) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(f.id)))
	b = append(b, f.id...)
	b = binary.AppendUvarint(b, uint64(len(f.curve)))
	for _, s := range f.curve {
		b = binary.AppendUvarint(b, uint64(len(s.T)))
		b = appendFloats(appendFloats(b, s.T), s.X)
	}
	return b
}

func appendFloats(b []byte, x []float64) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func floats(b []byte) []float64 {
	x := make([]float64, len(b)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return x
}

var errFragment = errors.New("beam: damaged fragment of a curve")

func decodeFragment(b []byte) (f fragment, err error) {
	take := func(unit uint64) []byte { // a length, and that many units
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k)/unit {
			err = errFragment
			return nil
		}
		out := b[k : k+int(n*unit)]
		b = b[k+int(n*unit):]
		return out
	}
	f.id = string(take(1))
	if err != nil {
		return f, err
	}
	parts, k := binary.Uvarint(b)
	if k <= 0 || parts > uint64(len(b)) {
		return f, errFragment
	}
	b = b[k:]
	for range parts {
		both := take(16)
		if err != nil {
			return f, err
		}
		f.curve = append(f.curve, fit.Series{T: floats(both[:len(both)/2]), X: floats(both[len(both)/2:])})
	}
	if len(b) > 0 {
		return f, errFragment
	}
	return f, nil
}
