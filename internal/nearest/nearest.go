// Package nearest finds the name that somebody will have meant.
package nearest

import (
	"strings"
	"unicode/utf8"
)

// Of returns the name that is most like the word: equal but for case, or fewest letters
// away (exchanged, left out, put in, swapped with their neighbour), at most a third of
// the word's. It is "" where no name is.
func Of(word string, names []string) string {
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	if utf8.RuneCountInString(word) < 2 {
		return ""
	}
	for _, name := range names {
		if name == word {
			continue
		}
		if d := distance([]rune(strings.ToLower(word)), []rune(strings.ToLower(name))); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance counts edits, those of two neighbouring letters once (optimal string alignment).
func distance(a, b []rune) int {
	two, one := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(one[j]+1, row[j-1]+1, one[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
