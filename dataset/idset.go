package dataset

import "hash/maphash"

// The ids met so far, as 128-bit hashes under keys drawn for this process: two
// ids out of 10⁹ collide with probability below 10⁻²⁰, and nobody can choose
// ids that do. Open addressing, 24 bytes an entry, half to three quarters full.

type idHash [2]uint64

type idEntry struct {
	hash idHash
	line int // where the id was first met; 0 marks a free entry
}

type idSet struct {
	seeds   [2]maphash.Seed
	entries []idEntry
	n       int
}

func newIDSet() *idSet {
	return &idSet{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, entries: make([]idEntry, 1024)}
}

func (s *idSet) hash(id []byte) idHash {
	return idHash{maphash.Bytes(s.seeds[0], id), maphash.Bytes(s.seeds[1], id)}
}

// add enters an id; if it was there already it returns the line given then.
func (s *idSet) add(id []byte, line int) (first int, again bool) {
	return s.addHash(s.hash(id), line)
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
	mask := len(s.entries) - 1
	for i := int(h[0]) & mask; ; i = (i + 1) & mask {
		if e := &s.entries[i]; e.line == 0 || e.hash == h {
			return e
		}
	}
}
