// Sums of vectors that come as totals of blocks: where a matrix product adds up thousands of people at
// once, no single vector is at hand to be checked against a ball. What is kept exact is the same.

package lattice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Tally is the exact sum of n integer vectors whose coordinates are at most Limit in magnitude. Unlike a
// [Sum] it does not check the Euclidean norm of each: the sensitivity is argued by whoever makes the vectors.
type Tally struct {
	limit int64
	n     int64
	sum   []int64
}

// NewTally returns an empty tally of vectors of the dimension.
func NewTally(dim int, limit int64) *Tally {
	if dim < 1 || limit < 1 || limit > 1<<40 {
		panic("lattice: NewTally of no dimension or an impossible limit")
	}
	return &Tally{limit: limit, sum: make([]int64, dim)}
}

// MaxTally is the largest n of a tally with the limit: the sum stays below 2⁶².
func MaxTally(limit int64) int64 { return 1 << 62 / limit }

// Dim is the length of the vectors, Limit the bound on their coordinates, N the number of vectors.
func (t *Tally) Dim() int     { return len(t.sum) }
func (t *Tally) Limit() int64 { return t.limit }
func (t *Tally) N() int64     { return t.n }

// Vector is the sum itself, a copy. It is raw private data.
func (t *Tally) Vector() []int64 { return append([]int64(nil), t.sum...) }

// Add adds n vectors given by their total. A total that n vectors cannot have is a programmer's mistake and
// panics; too many vectors are an error, and nothing is added.
func (t *Tally) Add(total []int64, n int64) error {
	if len(total) != len(t.sum) || n < 0 {
		panic("lattice: Add of a total of another dimension or a negative number of vectors")
	}
	if n > MaxTally(t.limit)-t.n {
		return fmt.Errorf("lattice: more than %d vectors in one tally could overflow", MaxTally(t.limit))
	}
	for _, x := range total {
		if x > n*t.limit || x < -n*t.limit {
			panic("lattice: Add of a total that no vectors within the limit have")
		}
	}
	for i, x := range total {
		t.sum[i] += x
	}
	t.n += n
	return nil
}

// Merge adds another tally of the same dimension and limit.
func (t *Tally) Merge(o *Tally) error {
	if t == o {
		return errors.New("lattice: cannot merge a tally into itself: its people would count twice")
	}
	if t.limit != o.limit || len(t.sum) != len(o.sum) {
		return fmt.Errorf("lattice: cannot merge tallies of dimension %d, limit %d and dimension %d, limit %d", len(t.sum), t.limit, len(o.sum), o.limit)
	}
	return t.Add(o.sum, o.n)
}

const (
	tallyMagic = "curveil/tally/1\x00"
	tallyHead  = len(tallyMagic) + 3*8
)

// MarshalBinary encodes the tally: magic, then dimension, limit, n and the coordinates as little-endian
// 64-bit words, then a CRC-32C of all that. The bytes are raw private data.
func (t *Tally) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, tallyHead+8*len(t.sum)+sumTail)
	b = append(b, tallyMagic...)
	for _, x := range []int64{int64(len(t.sum)), t.limit, t.n} {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	for _, x := range t.sum {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// DecodeTally decodes what MarshalBinary wrote, of whatever dimension and limit it states.
func DecodeTally(data []byte) (*Tally, error) {
	if len(data) < tallyHead+8+sumTail || string(data[:len(tallyMagic)]) != tallyMagic {
		return nil, errors.New("lattice: not a curveil tally, version 1")
	}
	limit := int64(binary.LittleEndian.Uint64(data[len(tallyMagic)+8:]))
	if limit < 1 || limit > 1<<40 || (len(data)-tallyHead-sumTail)%8 != 0 {
		return nil, fmt.Errorf("lattice: a tally of limit %d in %d bytes: the file is cut or damaged", limit, len(data))
	}
	t := NewTally((len(data)-tallyHead-sumTail)/8, limit)
	return t, t.UnmarshalBinary(data)
}

// UnmarshalBinary decodes what MarshalBinary wrote into a tally of the same dimension and limit, replacing
// what it held. It refuses a damaged text and sums that n vectors cannot have.
func (t *Tally) UnmarshalBinary(data []byte) error {
	if len(data) != tallyHead+8*len(t.sum)+sumTail || string(data[:len(tallyMagic)]) != tallyMagic {
		return fmt.Errorf("lattice: not a curveil tally of %d coordinates, version 1", len(t.sum))
	}
	body, tail := data[:len(data)-sumTail], data[len(data)-sumTail:]
	if binary.LittleEndian.Uint32(tail) != crc32.Checksum(body, castagnoli) {
		return errors.New("lattice: the checksum of the tally does not match: the file is cut or damaged, make it again")
	}
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(body[len(tallyMagic)+8*i:])) }
	n := word(2)
	if word(0) != int64(len(t.sum)) || word(1) != t.limit {
		return fmt.Errorf("lattice: a tally of dimension %d and limit %d where %d and %d are needed", word(0), word(1), len(t.sum), t.limit)
	}
	if n < 0 || n > MaxTally(t.limit) {
		return fmt.Errorf("lattice: tally of %d vectors is out of range", n)
	}
	sum := make([]int64, len(t.sum))
	for i := range sum {
		if sum[i] = word(3 + i); sum[i] > n*t.limit || sum[i] < -n*t.limit {
			return fmt.Errorf("lattice: the tally is larger than %d vectors can make it: the file is damaged", n)
		}
	}
	t.n, t.sum = n, sum
	return nil
}
