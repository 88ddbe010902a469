package regression

import "hash/maphash"

// seen remembers the ids of the last reports applied. As many as the staleness suffice for applying no report twice: a
// report that was applied longer ago refers to a version that is stale by now. More are kept, so that a late repeat
// is told that it was applied, and not that it is stale, which would tempt its person to make another.
//
// The ids lie in a ring; a hash table with linear probing holds their places (the built-in map took half the time of
// an update). Clients choose ids, so the hash is keyed.
type seen struct {
	ring  []ID // in order of application; a ring once full
	next  int  // the oldest, once full
	size  int
	slots []uint64 // of a power of two, at most half full: 0, or the place + 1 below the low half of the hash
	seed  maphash.Seed
}

// remembered is how many ids are kept at least: 4 MiB in a snapshot, and small enough for a processor's cache.
const remembered = 1 << 18

func newSeen(staleness int64) seen {
	return seen{size: int(max(remembered, staleness+1)), slots: make([]uint64, 64), seed: maphash.MakeSeed()}
}

// hash has 32 bits, so that a slot holds all of it; a table has at most 2^26 slots.
func (s *seen) hash(id *ID) uint64 { return maphash.Bytes(s.seed, id[:]) & lowHalf }

const lowHalf = 1<<32 - 1

// find returns the slot of the id, or the empty one where it belongs.
func (s *seen) find(id *ID, hash uint64) (slot uint64, found bool) {
	mask := uint64(len(s.slots) - 1)
	for slot = hash & mask; ; slot = (slot + 1) & mask {
		v := s.slots[slot]
		if v == 0 {
			return slot, false
		}
		if v>>32 == hash && s.ring[v&lowHalf-1] == *id {
			return slot, true
		}
	}
}

func (s *seen) has(id ID) bool {
	_, found := s.find(&id, s.hash(&id))
	return found
}

// add takes an id that is not there.
func (s *seen) add(id ID) {
	place := len(s.ring)
	if place < s.size {
		s.ring = append(s.ring, id)
		if 2*len(s.ring) > len(s.slots) {
			s.grow()
			return
		}
	} else {
		place = s.next
		s.remove(&s.ring[place])
		s.ring[place] = id
		if s.next++; s.next == s.size {
			s.next = 0
		}
	}
	s.put(place)
}

func (s *seen) put(place int) {
	hash := s.hash(&s.ring[place])
	slot, _ := s.find(&s.ring[place], hash)
	s.slots[slot] = hash<<32 | uint64(place+1)
}

func (s *seen) grow() {
	s.slots = make([]uint64, 2*len(s.slots))
	for place := range s.ring {
		s.put(place)
	}
}

// remove closes the gap by moving back what probed past it (Knuth, vol. 3, 6.4, algorithm R).
func (s *seen) remove(id *ID) {
	mask := uint64(len(s.slots) - 1)
	gap, _ := s.find(id, s.hash(id))
	for next := (gap + 1) & mask; s.slots[next] != 0; next = (next + 1) & mask {
		home := s.slots[next] >> 32 & mask
		if (next-home)&mask >= (next-gap)&mask {
			s.slots[gap] = s.slots[next]
			gap = next
		}
	}
	s.slots[gap] = 0
}

// ordered is the ids, oldest first.
func (s *seen) ordered() (older, newer []ID) { return s.ring[s.next:], s.ring[:s.next] }
