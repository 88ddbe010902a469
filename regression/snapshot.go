// Snapshots of a server: its whole state, so that a restored server goes on to the same bits.

package regression

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

const snapshotMagic = "curveil-regression-1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary encodes the stream and the state: magic, length and text of the stream's JSON, n, flags, the sums
// of weights and of noise, iterate and average, the ids, all as little-endian 64-bit words or raw bytes, then a
// CRC-32C. It holds nothing that is not public or private. Equal states give equal bytes.
func (v *Server) MarshalBinary() ([]byte, error) {
	older, newer := v.seen.ordered()
	b := make([]byte, 0, len(snapshotMagic)+len(v.text)+16*(len(v.seen.ring)+len(v.it.a))+128)
	b = append(b, snapshotMagic...)
	word := func(w uint64) { b = binary.LittleEndian.AppendUint64(b, w) }
	word(uint64(len(v.text)))
	b = append(b, v.text...)
	word(uint64(v.n))
	flags := uint64(0)
	if v.private {
		flags = 1
	}
	word(flags)
	for _, f := range [][]float64{{v.it.weight, v.noise.s, v.noise.st, v.noise.t}, v.it.a, v.it.mean} {
		for _, x := range f {
			word(math.Float64bits(x))
		}
	}
	word(uint64(len(v.seen.ring)))
	for _, ids := range [][]ID{older, newer} {
		for i := range ids {
			b = append(b, ids[i][:]...)
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary restores what MarshalBinary wrote, into any server. It refuses a damaged text, another version, and what
// no server can have reached; the receiver is unchanged then.
func (v *Server) UnmarshalBinary(data []byte) error {
	r := reader{data: data}
	if len(data) < len(snapshotMagic)+4 || !bytes.HasPrefix(data, []byte(snapshotMagic)) {
		return fmt.Errorf("regression: not a snapshot of this version of curveil")
	}
	body := data[:len(data)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return fmt.Errorf("regression: snapshot is damaged (checksum): use an older one, or replay the log")
	}
	r.data = body[len(snapshotMagic):]
	text := r.bytes(r.word())
	if r.short {
		return errShortSnapshot
	}
	var s Stream
	if err := s.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("regression: snapshot: %w", err)
	}
	out, err := NewServer(s)
	if err != nil {
		return fmt.Errorf("regression: snapshot: %w", err)
	}
	if !bytes.Equal(out.text, text) {
		return fmt.Errorf("regression: snapshot: its stream is written another way by this version of curveil: replay the log")
	}
	out.n = int64(r.word())
	flags := r.word()
	out.private = flags == 1
	for _, to := range []*float64{&out.it.weight, &out.noise.s, &out.noise.st, &out.noise.t} {
		*to = r.float()
	}
	for _, to := range [][]float64{out.it.a, out.it.mean} {
		for j := range to {
			to[j] = r.float()
		}
	}
	count := r.word()
	if r.short || uint64(len(r.data)) != 16*count || count > uint64(out.seen.size) {
		return errShortSnapshot
	}
	for range count {
		var id ID
		copy(id[:], r.bytes(16))
		if out.seen.has(id) {
			return fmt.Errorf("regression: snapshot: report %v was applied twice", id)
		}
		out.seen.add(id)
	}
	if flags > 1 || out.n < 0 || count != min(uint64(out.n), uint64(out.seen.size)) || !(out.it.weight >= 0 && out.it.weight <= float64(out.n)) || (out.it.weight > 0) != (out.n > 0) || r.bad {
		return fmt.Errorf("regression: snapshot: its numbers contradict each other: use an older one, or replay the log")
	}
	*v = *out
	return nil
}

var errShortSnapshot = fmt.Errorf("regression: snapshot has another length than its content says: use an older one, or replay the log")

type reader struct {
	data  []byte
	short bool
	bad   bool // a number is not finite
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.short = true
		return make([]byte, min(n, 16))
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) word() uint64 {
	b := r.bytes(8)
	return binary.LittleEndian.Uint64(b)
}

func (r *reader) float() float64 {
	f := math.Float64frombits(r.word())
	r.bad = r.bad || !finite(f)
	return f
}
