// Messages of the log. A message is a group of records that became durable together:
//
//	"cvl1" · records · CRC-32C of all before it, 4 bytes little-endian
//
//	record 1 (stream):      1 · uvarint length · JSON of the Definition
//	record 2 (report):      2 · uvarint stream · flags · id, 16 bytes · uvarint at · [ε, δ: 2 × 8 bytes] · [invitation, 32 bytes]
//	                          · uvarint r · r zigzag varints
//	record 3 (invitations): 3 · uvarint stream · varint expiry, Unix seconds · uvarint n · n × 32 bytes
//	record 4 (close):       4 · uvarint stream
//	record 5 (forget):      5 · varint time, Unix seconds: invitations of all streams that had expired by then are dropped
//
// Streams are numbered from 0 in the order of their records. Flags: 1 noise was private, 2 ε and δ are given (else they are
// the stream's), 4 an invitation is given. An invitation is its SHA-256. A report's fingerprint is its stream's, having
// been checked before.

package collector

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
)

const (
	messageMagic = "cvl1"

	kindStream      = 1
	kindReport      = 2
	kindInvitations = 3
	kindClose       = 4
	kindForget      = 5

	flagPrivate    = 1
	flagBudget     = 2
	flagInvitation = 4

	maxDim = 1 << 14 // of package regression
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is one entry of the log: of the fields, those of its kind are set.
type record struct {
	kind       byte
	stream     int
	definition []byte             // kindStream
	report     *regression.Report // kindReport
	ownBudget  bool
	invitation *tokenHash
	lapsed     time.Time // when the invitation says that it expires; not in the log, zero where it says nothing
	expires    time.Time // kindInvitations, kindForget
	tokens     []tokenHash
}

func (r *record) append(b []byte) []byte {
	b = append(b, r.kind)
	switch r.kind {
	case kindStream:
		b = binary.AppendUvarint(b, uint64(len(r.definition)))
		return append(b, r.definition...)
	case kindClose:
		return binary.AppendUvarint(b, uint64(r.stream))
	case kindForget:
		return binary.AppendVarint(b, r.expires.Unix())
	case kindInvitations:
		b = binary.AppendUvarint(b, uint64(r.stream))
		b = binary.AppendVarint(b, r.expires.Unix())
		b = binary.AppendUvarint(b, uint64(len(r.tokens)))
		for i := range r.tokens {
			b = append(b, r.tokens[i][:]...)
		}
		return b
	}
	flags := byte(0)
	if r.report.Private {
		flags |= flagPrivate
	}
	if r.ownBudget {
		flags |= flagBudget
	}
	if r.invitation != nil {
		flags |= flagInvitation
	}
	b = append(binary.AppendUvarint(b, uint64(r.stream)), flags)
	b = append(b, r.report.ID[:]...)
	b = binary.AppendUvarint(b, uint64(r.report.At))
	if r.ownBudget {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.report.Budget.Epsilon))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.report.Budget.Delta))
	}
	if r.invitation != nil {
		b = append(b, r.invitation[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.report.Coordinates)))
	for _, k := range r.report.Coordinates {
		b = binary.AppendVarint(b, k)
	}
	return b
}

func seal(message []byte) []byte {
	return binary.LittleEndian.AppendUint32(message, crc32.Checksum(message, castagnoli))
}

// readMessage calls do for each record. What a report takes from its stream, fingerprint and budget, is left to do.
func readMessage(data []byte, do func(*record) error) error {
	if len(data) < len(messageMagic)+4 || string(data[:len(messageMagic)]) != messageMagic {
		return fmt.Errorf("not a message of this version of curveil")
	}
	body := data[:len(data)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return fmt.Errorf("message is damaged (checksum)")
	}
	p := parser{data: body[len(messageMagic):]}
	for len(p.data) > 0 {
		r := p.record()
		if p.bad {
			return fmt.Errorf("message holds a record that is cut short or unknown")
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

type parser struct {
	data []byte
	bad  bool
}

func (p *parser) take(n uint64) []byte {
	if n > uint64(len(p.data)) {
		p.bad, p.data = true, nil
		return nil
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b
}

func (p *parser) uvarint() uint64 {
	v, n := binary.Uvarint(p.data)
	if n <= 0 {
		p.take(math.MaxUint64)
		return 0
	}
	p.data = p.data[n:]
	return v
}

func (p *parser) varint() int64 {
	v, n := binary.Varint(p.data)
	if n <= 0 {
		p.take(math.MaxUint64)
		return 0
	}
	p.data = p.data[n:]
	return v
}

func (p *parser) float() float64 {
	if b := p.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// number is a uvarint up to a limit.
func (p *parser) number(most uint64) int {
	v := p.uvarint()
	if v > most {
		p.take(math.MaxUint64)
		return 0
	}
	return int(v)
}

func (p *parser) record() *record {
	r := &record{}
	if b := p.take(1); b != nil {
		r.kind = b[0]
	}
	switch r.kind {
	case kindStream:
		r.definition = p.take(p.uvarint())
	case kindInvitations:
		r.stream = p.number(maxStreams)
		r.expires = time.Unix(p.varint(), 0)
		for range p.number(maxInvitations) {
			var t tokenHash
			copy(t[:], p.take(uint64(len(t))))
			r.tokens = append(r.tokens, t)
		}
	case kindReport:
		p.report(r)
	case kindClose:
		r.stream = p.number(maxStreams)
	case kindForget:
		r.expires = time.Unix(p.varint(), 0)
	default:
		p.bad = true
	}
	return r
}

func (p *parser) report(r *record) {
	r.stream = p.number(maxStreams)
	flags := byte(0)
	if b := p.take(1); b != nil {
		flags = b[0]
	}
	r.report = &regression.Report{Private: flags&flagPrivate != 0}
	copy(r.report.ID[:], p.take(uint64(len(r.report.ID))))
	r.report.At = int64(p.uvarint())
	if r.ownBudget = flags&flagBudget != 0; r.ownBudget {
		r.report.Budget = privacy.Approx{Epsilon: p.float(), Delta: p.float()}
	}
	if flags&flagInvitation != 0 {
		r.invitation = new(tokenHash)
		copy(r.invitation[:], p.take(uint64(len(r.invitation))))
	}
	n := p.number(maxDim)
	if n > len(p.data) { // each takes a byte at least
		p.take(math.MaxUint64)
		return
	}
	r.report.Coordinates = make([]int64, n)
	for j := range r.report.Coordinates {
		r.report.Coordinates[j] = p.varint()
	}
	if flags > flagPrivate|flagBudget|flagInvitation || r.report.At < 0 {
		p.bad = true
	}
}
