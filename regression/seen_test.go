package regression

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSeenIsASetOfTheLast compares with a plain list, through growth, wrapping around and removal from crowded slots.
func TestSeenIsASetOfTheLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSeen(1)
		s.size = rapid.IntRange(1, 200).Draw(t, "size")
		var last []ID
		for range rapid.IntRange(0, 1000).Draw(t, "n") {
			var id ID
			id[0], id[15] = byte(rapid.IntRange(0, 3).Draw(t, "a")), rapid.Byte().Draw(t, "b")
			want := false
			for _, old := range last {
				want = want || old == id
			}
			if s.has(id) != want {
				t.Fatalf("has(%v) is %v", id, !want)
			}
			if want {
				continue
			}
			s.add(id)
			if last = append(last, id); len(last) > s.size {
				last = last[1:]
			}
		}
		older, newer := s.ordered()
		got := append(append([]ID(nil), older...), newer...)
		if len(got) != len(last) {
			t.Fatalf("%d ids, want %d", len(got), len(last))
		}
		for i := range got {
			if got[i] != last[i] || !s.has(got[i]) {
				t.Fatalf("id %d is %v, want %v", i, got[i], last[i])
			}
		}
	})
}
