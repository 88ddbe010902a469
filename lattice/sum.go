package lattice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// Merge adds another sum over the same ball.
func (s *Sum) Merge(o *Sum) error {
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

const sumMagic = "curveil/sum/1\x00"

// MarshalBinary encodes the ball and the sum: magic, then dimension, radius,
// n and the coordinates as little-endian 64-bit words. The bytes are raw
// private data.
func (s *Sum) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, len(sumMagic)+8*(3+len(s.sum)))
	b = append(b, sumMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.ball.dim))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.ball.radius))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	for _, x := range s.sum {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b, nil
}

// UnmarshalBinary decodes what MarshalBinary wrote and refuses anything that
// no sum of n vectors of the ball could be.
func (s *Sum) UnmarshalBinary(data []byte) error {
	head := len(sumMagic) + 24
	if len(data) < head || string(data[:len(sumMagic)]) != sumMagic {
		return errors.New("lattice: not a curveil sum, version 1")
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[len(sumMagic)+8*i:]) }
	dim := word(0)
	if rest := uint64(len(data)-head) / 8; dim != rest || (len(data)-head)%8 != 0 {
		return fmt.Errorf("lattice: sum of dimension %d with %d bytes of coordinates: the file is cut or damaged", dim, len(data)-head)
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
	limit := n << 31
	for i := range sum {
		if sum[i] = int64(word(3 + i)); sum[i] > limit || sum[i] < -limit {
			return fmt.Errorf("lattice: coordinate %d of the sum is larger than %d vectors can make it: the file is damaged", i+1, n)
		}
	}
	*s = Sum{ball: ball, n: n, sum: sum}
	return nil
}
