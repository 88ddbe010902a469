package lattice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
)

// Sum is the exact sum of n vectors of a ball. The zero value is not usable.
type Sum struct {
	ball Ball
	n    int64
	sum  []int64
}

// NewSum returns an empty sum over the ball.
func NewSum(b Ball) *Sum { return &Sum{ball: b, sum: make([]int64, b.dim)} }

// Ball is the ball whose vectors are summed.
func (s *Sum) Ball() Ball { return s.ball }

// N is the number of vectors added.
func (s *Sum) N() int64 { return s.n }

// Vector is the sum itself, a copy. It is raw private data.
func (s *Sum) Vector() []int64 { return append([]int64(nil), s.sum...) }

// Add adds a vector of the ball. A vector outside it is a programmer's
// mistake and panics: the guarantee would no longer hold.
func (s *Sum) Add(k []int64) error {
	if !s.ball.Contains(k) {
		panic("lattice: Add of a vector outside the ball")
	}
	if s.n >= MaxN {
		return fmt.Errorf("lattice: more than %d vectors in one sum could overflow", int64(MaxN))
	}
	for i, x := range k {
		s.sum[i] += x
	}
	s.n++
	return nil
}

// Merge adds another sum over the same ball. A sum cannot be merged into
// itself: everybody in it would count twice, at twice the sensitivity.
func (s *Sum) Merge(o *Sum) error {
	if s == o {
		return errors.New("lattice: cannot merge a sum into itself: its people would count twice")
	}
	if s.ball != o.ball {
		return fmt.Errorf("lattice: cannot merge sums over different balls (radius %g, dimension %d; radius %g, dimension %d)",
			s.ball.radius, s.ball.dim, o.ball.radius, o.ball.dim)
	}
	if o.n > MaxN-s.n {
		return fmt.Errorf("lattice: %d and %d vectors together exceed %d and could overflow", s.n, o.n, int64(MaxN))
	}
	for i, x := range o.sum {
		s.sum[i] += x
	}
	s.n += o.n
	return nil
}

const (
	sumMagic = "curveil/sum/1\x00"
	sumHead  = len(sumMagic) + 3*8
	sumTail  = 4 // CRC-32C
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary encodes the ball and the sum: magic, then dimension, radius, n
// and the coordinates as little-endian 64-bit words, then a CRC-32C of all that.
// The bytes are raw private data.
func (s *Sum) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, sumHead+8*len(s.sum)+sumTail)
	b = append(b, sumMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.ball.dim))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.ball.radius))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	for _, x := range s.sum {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary decodes what MarshalBinary wrote. It refuses a damaged file,
// and anything that no sum of n vectors of the ball could be.
func (s *Sum) UnmarshalBinary(data []byte) error {
	if len(data) < sumHead+sumTail || string(data[:len(sumMagic)]) != sumMagic {
		return errors.New("lattice: not a curveil sum, version 1")
	}
	body, tail := data[:len(data)-sumTail], data[len(data)-sumTail:]
	if binary.LittleEndian.Uint32(tail) != crc32.Checksum(body, castagnoli) {
		return errors.New("lattice: the checksum of the sum does not match: the file is cut or damaged, make it again")
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(body[len(sumMagic)+8*i:]) }
	dim, coords := word(0), len(body)-sumHead
	if coords%8 != 0 || dim != uint64(coords/8) {
		return fmt.Errorf("lattice: sum of dimension %d with %d bytes of coordinates: the file is cut or damaged", dim, coords)
	}
	ball, err := NewBall(math.Float64frombits(word(1)), int(dim))
	if err != nil {
		return err
	}
	n := int64(word(2))
	if n < 0 || n > MaxN {
		return fmt.Errorf("lattice: sum of %d vectors is out of range", n)
	}
	sum := make([]int64, dim)
	for i := range sum {
		sum[i] = int64(word(3 + i))
	}
	if !possible(ball, n, sum) {
		return fmt.Errorf("lattice: the sum is larger than %d vectors of radius %g can make it: the file is damaged", n, ball.radius)
	}
	*s = Sum{ball: ball, n: n, sum: sum}
	return nil
}

// possible reports whether ‖sum‖² ≤ n²·⌊(R/η)²⌋, exactly.
func possible(b Ball, n int64, sum []int64) bool {
	var norm2, x big.Int
	for _, k := range sum {
		x.SetInt64(k)
		norm2.Add(&norm2, x.Mul(&x, &x))
	}
	limit := new(big.Int).SetUint64(b.k2)
	limit.Mul(limit, x.SetInt64(n)).Mul(limit, &x)
	return norm2.Cmp(limit) <= 0
}
