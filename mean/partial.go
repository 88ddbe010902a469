package mean

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/curveil/curveil/lattice"
)

// Merge adds the people of another accumulator of the same configuration. The
// result does not depend on the order of merging, to the bit. The other
// accumulator must not be used any more.
func (m *Mean) Merge(o *Mean) error {
	if m.done || o.done {
		return errReleased
	}
	mine, err := m.cfg.fingerprint()
	if err != nil {
		return err
	}
	theirs, err := o.cfg.fingerprint()
	if err != nil {
		return err
	}
	if mine != theirs {
		return errors.New("mean: cannot merge: the accumulators differ in space, radius, guarantee, unit, method, components, reference or grid")
	}
	sum, err := o.total()
	if err != nil {
		return err
	}
	o.done = true
	return m.include(sum)
}

func (m *Mean) include(sum *lattice.Sum) error {
	w := <-m.free
	defer func() { m.free <- w }()
	return w.sum.Merge(sum)
}

const partialMagic = "curveil/mean/1\x00"

// MarshalBinary encodes the people added so far: magic, the SHA-256 of the
// configuration, the integer sum. The bytes are raw private data.
func (m *Mean) MarshalBinary() ([]byte, error) {
	if m.done {
		return nil, errReleased
	}
	print, err := m.cfg.fingerprint()
	if err != nil {
		return nil, err
	}
	sum, err := m.total()
	if err != nil {
		return nil, err
	}
	body, err := sum.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(append([]byte(partialMagic), print[:]...), body...), nil
}

// UnmarshalBinary adds the people that another accumulator of the same
// configuration had encoded; the receiver must come from New.
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
	print, err := m.cfg.fingerprint()
	if err != nil {
		return err
	}
	if !bytes.Equal(rest[:sha256.Size], print[:]) {
		return errors.New("mean: the partial mean was made with another space, radius, guarantee, unit, method, components, reference or grid")
	}
	var sum lattice.Sum
	if err := sum.UnmarshalBinary(rest[sha256.Size:]); err != nil {
		return fmt.Errorf("mean: %w", err)
	}
	return m.include(&sum)
}
