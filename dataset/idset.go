package dataset

import (
	"bytes"
	"hash/maphash"
)

// The ids met so far, as 128-bit hashes under keys drawn for this process: two
// ids out of 10⁹ collide with probability below 10⁻²⁰, and nobody can choose
// ids that do. Open addressing, 24 bytes an entry, half to three quarters full.
//
// Ids that come in order, as those of most files do, cannot repeat: they are
// only listed, and the table, every access to which misses the cache, is built
// when the order breaks.

type idHash [2]uint64

type idEntry struct {
	hash idHash
	line int // where the id was first met; 0 marks a free entry
}

type idSet struct {
	seeds   [2]maphash.Seed
	entries []idEntry // nil while the ids come in order
	n       int

	listed      []idEntry
	last        []byte
	lex, length bool // ids ascend as texts; by length, then as texts (numbers)
}

func newIDSet() *idSet {
	return &idSet{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, lex: true, length: true}
}

func (s *idSet) hash(id []byte) idHash {
	return idHash{maphash.Bytes(s.seeds[0], id), maphash.Bytes(s.seeds[1], id)}
}

// add enters an id; if it was there already it returns the line given then.
func (s *idSet) add(id []byte, line int) (first int, again bool) {
	h := s.hash(id)
	if s.entries == nil && s.follows(id) {
		s.listed = append(s.listed, idEntry{hash: h, line: line})
		return 0, false
	}
	return s.addHash(h, line)
}

// follows reports whether the id comes after all others in an order that they
// have kept so far.
func (s *idSet) follows(id []byte) bool {
	if len(s.listed) > 0 {
		after := bytes.Compare(s.last, id) < 0
		s.lex = s.lex && after
		s.length = s.length && (len(s.last) < len(id) || len(s.last) == len(id) && after)
	}
	s.last = append(s.last[:0], id...)
	return s.lex || s.length
}

func (s *idSet) addHash(h idHash, line int) (first int, again bool) {
	if e := s.find(h); e.line != 0 {
		return e.line, true
	}
	if 4*(s.n+1) > 3*len(s.entries) {
		old := s.entries
		s.entries = make([]idEntry, 2*len(old))
		for _, e := range old {
			if e.line != 0 {
				*s.find(e.hash) = e
			}
		}
	}
	*s.find(h) = idEntry{hash: h, line: line}
	s.n++
	return 0, false
}

// find returns the entry of h, or the free one where it belongs.
func (s *idSet) find(h idHash) *idEntry {
	if s.entries == nil {
		s.index()
	}
	mask := len(s.entries) - 1
	for i := int(h[0]) & mask; ; i = (i + 1) & mask {
		if e := &s.entries[i]; e.line == 0 || e.hash == h {
			return e
		}
	}
}

// index builds the table of the ids listed.
func (s *idSet) index() {
	size := 1024
	for 2*size < 4*len(s.listed) {
		size *= 2
	}
	s.entries = make([]idEntry, size)
	for _, e := range s.listed {
		*s.find(e.hash) = e
	}
	s.n, s.listed = len(s.listed), nil
}
