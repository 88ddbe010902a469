package density

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/curveil/curveil/lattice"
)

var errDiffer = errors.New("density: the accumulators differ in box, basis, rank, method, rule, guarantee, unit, treatment of outside points or number of people")

// Merge adds the people of another accumulator of the same configuration. The result does not depend on the
// order of merging, to the bit. The other accumulator must not be used any more.
func (d *Density) Merge(o *Density) error {
	if d == o {
		return errors.New("density: cannot merge an accumulator into itself: its people would count twice")
	}
	if d.done || o.done {
		return errReleased
	}
	mine, err := d.cfg.fingerprint()
	if err != nil {
		return err
	}
	theirs, err := o.cfg.fingerprint()
	if err != nil {
		return err
	}
	if mine != theirs {
		return errDiffer
	}
	t, err := o.total()
	if err != nil {
		return err
	}
	o.done = true
	return d.include(t)
}

func (d *Density) include(t *lattice.Tally) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.tally.Merge(t); err != nil {
		return fmt.Errorf("density: %w", err)
	}
	return nil
}

// partialMagic changes with the integers of a point, so that sums of two kinds are never mixed.
const partialMagic = "curveil/density/3\x00"

// notPartial says what a text without the magic is.
func notPartial(data []byte) error {
	const family = len("curveil/density/")
	if len(data) >= len(partialMagic) && string(data[:family]) == partialMagic[:family] {
		return fmt.Errorf("density: a partial density of version %q: this curveil merges version %q; make it again from the data", data[family], partialMagic[family])
	}
	return fmt.Errorf("density: not a curveil partial density, version %c", partialMagic[family])
}

// MarshalBinary encodes the people added so far: magic, the SHA-256 of the configuration, the integer sum.
// The bytes are raw private data.
func (d *Density) MarshalBinary() ([]byte, error) {
	if d.done {
		return nil, errReleased
	}
	print, err := d.cfg.fingerprint()
	if err != nil {
		return nil, err
	}
	t, err := d.total()
	if err != nil {
		return nil, err
	}
	body, err := t.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(append([]byte(partialMagic), print[:]...), body...), nil
}

// MergePartials adds two texts of MarshalBinary, to the bit what merging the accumulators gives, without their
// configuration: what a node between shards does.
func MergePartials(a, b []byte) ([]byte, error) {
	const head = len(partialMagic) + sha256.Size
	for _, data := range [][]byte{a, b} {
		if len(data) < head || !bytes.HasPrefix(data, []byte(partialMagic)) {
			return nil, notPartial(data)
		}
	}
	if !bytes.Equal(a[:head], b[:head]) {
		return nil, errDiffer
	}
	x, err := lattice.DecodeTally(a[head:])
	if err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}
	y, err := lattice.DecodeTally(b[head:])
	if err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}
	if err := x.Merge(y); err != nil {
		return nil, fmt.Errorf("density: %w", err)
	}
	body, err := x.MarshalBinary()
	return append(bytes.Clone(a[:head]), body...), err
}

// UnmarshalBinary adds the people that another accumulator of the same configuration had encoded; the
// receiver must come from New.
func (d *Density) UnmarshalBinary(data []byte) error {
	if d.account == nil {
		return errors.New("density: decode into an accumulator made by New with the same configuration")
	}
	if d.done {
		return errReleased
	}
	rest, ok := bytes.CutPrefix(data, []byte(partialMagic))
	if !ok || len(rest) < sha256.Size {
		return notPartial(data)
	}
	print, err := d.cfg.fingerprint()
	if err != nil {
		return err
	}
	if !bytes.Equal(rest[:sha256.Size], print[:]) {
		return errDiffer
	}
	t := lattice.NewTally(d.code.dim, d.code.limit)
	if err := t.UnmarshalBinary(rest[sha256.Size:]); err != nil {
		return fmt.Errorf("density: %w", err)
	}
	return d.include(t)
}
