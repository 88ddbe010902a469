package beam

import (
	"encoding/binary"
	"errors"

	"github.com/curveil/curveil/space"
)

// counts are of a density's points, for the curator: a box that most lie outside of is a
// slip of the call. They are private, and travel with the sum, in front of it.
type counts struct{ outside, of int64 }

const countsSize = 16

func (c *counts) count(x []float64, box []space.Interval) {
	c.of++
	for i, side := range box {
		if x[i] < side.A || x[i] > side.B {
			c.outside++
			return
		}
	}
}

func (c counts) before(sum []byte) []byte {
	b := make([]byte, 0, countsSize+len(sum))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.outside))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.of))
	return append(b, sum...)
}

func cutCounts(b []byte) (c counts, sum []byte, err error) {
	if len(b) <= countsSize {
		return c, nil, errors.New("beam: a damaged sum: are all workers of this program's version?")
	}
	return counts{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))}, b[countsSize:], nil
}
