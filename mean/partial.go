package mean

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/curveil/curveil/lattice"
)

// Merge adds the people of another accumulator of the same configuration, which
// is empty of people and closed afterwards. The result does not depend on the
// order of merging, to the bit. After an error both are as before.
//
// Nothing tells two groups of people apart: whoever merges one group twice, by
// way of MarshalBinary, lets it count twice and voids the guarantee. Stating
// Config.N catches that.
func (m *Mean) Merge(o *Mean) error {
	if m == o {
		return errors.New("mean: cannot merge an accumulator into itself: its people would count twice")
	}
	if m.done || o.done {
		return errReleased
	}
	if m.print != o.print {
		return errors.New("mean: cannot merge: the accumulators differ in space, radius, guarantee, unit, method, components, reference or grid, or were made on another kind of processor")
	}
	sum, err := o.total()
	if err != nil {
		return err
	}
	if err := m.include(sum); err != nil {
		return err
	}
	o.done = true
	return nil
}

func (m *Mean) include(sum *lattice.Sum) error {
	if sum.N() > lattice.MaxN-m.n {
		return fmt.Errorf("mean: %d and %d people together are more than the %d that one mean takes", m.n, sum.N(), int64(lattice.MaxN))
	}
	w := <-m.free
	defer func() { m.free <- w }()
	if err := w.sum.Merge(sum); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	m.n += sum.N()
	return nil
}

const partialMagic = "curveil/mean/1\x00"

// MarshalBinary encodes the people added so far: magic, the SHA-256 of the
// configuration, the integer sum. The bytes are raw private data.
func (m *Mean) MarshalBinary() ([]byte, error) {
	if m.done {
		return nil, errReleased
	}
	sum, err := m.total()
	if err != nil {
		return nil, err
	}
	body, err := sum.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(append([]byte(partialMagic), m.print[:]...), body...), nil
}

// MergePartials adds two texts of MarshalBinary, to the bit what merging the
// accumulators gives, without their configuration: what a node between shards
// does. Adding in any order gives the same bytes.
func MergePartials(a, b []byte) ([]byte, error) {
	const head = len(partialMagic) + sha256.Size
	if len(a) < head || len(b) < head || !bytes.HasPrefix(a, []byte(partialMagic)) || !bytes.HasPrefix(b, []byte(partialMagic)) {
		return nil, errors.New("mean: not a curveil partial mean, version 1")
	}
	if !bytes.Equal(a[:head], b[:head]) {
		return nil, errors.New("mean: cannot merge: the partial means were made with different parameters, or on different kinds of processor")
	}
	var x, y lattice.Sum
	if err := errors.Join(x.UnmarshalBinary(a[head:]), y.UnmarshalBinary(b[head:])); err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	if err := x.Merge(&y); err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	body, err := x.MarshalBinary()
	return append(bytes.Clone(a[:head]), body...), err
}

// UnmarshalBinary adds the people that another accumulator of the same
// configuration had encoded, see Merge; the receiver must come from New.
func (m *Mean) UnmarshalBinary(data []byte) error {
	if m.mech == nil {
		return errors.New("mean: decode into an accumulator made by New with the same configuration")
	}
	if m.done {
		return errReleased
	}
	rest, ok := bytes.CutPrefix(data, []byte(partialMagic))
	if !ok || len(rest) < sha256.Size {
		return errors.New("mean: not a curveil partial mean, version 1")
	}
	if !bytes.Equal(rest[:sha256.Size], m.print[:]) {
		return errors.New("mean: the partial mean was made with another space, radius, guarantee, unit, method, components, reference or grid, or on another kind of processor, or were made on another kind of processor")
	}
	var sum lattice.Sum
	if err := sum.UnmarshalBinary(rest[sha256.Size:]); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	return m.include(&sum)
}
