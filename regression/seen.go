package regression

// seen remembers the ids of the last reports applied. As many as the staleness suffice for applying no report twice: a
// report that was applied longer ago refers to a version that is stale by now. More are kept, so that a late repeat
// is told that it was applied, and not that it is stale, which would tempt its person to make another.
type seen struct {
	ring []ID // in order of application; a ring once full
	next int  // the oldest, once full
	size int
	set  map[ID]struct{}
}

// remembered is how many ids are kept at least: 16 MiB in a snapshot.
const remembered = 1 << 20

func newSeen(staleness int64) seen {
	return seen{size: int(max(remembered, staleness+1)), set: map[ID]struct{}{}}
}

func (s *seen) has(id ID) bool {
	_, ok := s.set[id]
	return ok
}

func (s *seen) add(id ID) {
	if len(s.ring) < s.size {
		s.ring = append(s.ring, id)
	} else {
		delete(s.set, s.ring[s.next])
		s.ring[s.next] = id
		s.next++
		if s.next == s.size {
			s.next = 0
		}
	}
	s.set[id] = struct{}{}
}

// ordered is the ids, oldest first.
func (s *seen) ordered() (older, newer []ID) { return s.ring[s.next:], s.ring[:s.next] }
