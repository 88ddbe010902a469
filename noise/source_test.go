package noise

import (
	"math/bits"
	"slices"
	"sync"
	"testing"
	"testing/cryptotest"

	"github.com/curveil/curveil/internal/stattest"
	"github.com/google/go-cmp/cmp"
)

// Seeded demonstrations print these; a change of the generator or of a sampler
// is a change for users and belongs in the changelog.
func TestSeededGolden(t *testing.T) {
	words := make([]uint64, 4)
	s := Seeded(1)
	for i := range words {
		words[i] = s.Uint64()
	}
	if diff := cmp.Diff(goldenWords, words); diff != "" {
		t.Errorf("Seeded(1) words (-want +got):\n%s", diff)
	}

	s = Seeded(1)
	got := map[string][]int64{
		"normal": make([]int64, 8), "laplace": nil, "exponential": nil,
		"spherical": make([]int64, 4), "split": make([]int64, 4),
	}
	s.RoundedNormals(got["normal"], 1000)
	for range 6 {
		got["laplace"] = append(got["laplace"], s.RoundedLaplace(1000))
		got["exponential"] = append(got["exponential"], s.RoundedExponential(1000))
	}
	s.RoundedSphericalLaplace(got["spherical"], 1<<40)
	s.Split().RoundedNormals(got["split"], 1<<30)
	if diff := cmp.Diff(goldenDraws, got); diff != "" {
		t.Errorf("Seeded(1) draws (-want +got):\n%s", diff)
	}
}

func TestSources(t *testing.T) {
	if !Crypto().Private() || !Crypto().Split().Private() {
		t.Error("a cryptographic source is not private")
	}
	if Seeded(1).Private() || Seeded(1).Split().Private() {
		t.Error("a seeded source claims to be private")
	}
	seen := map[uint64]string{}
	parent := Seeded(1)
	crypto := Crypto()
	for name, s := range map[string]*Source{
		"Seeded(0)": Seeded(0), "Seeded(1)": parent, "Seeded(2)": Seeded(2), "Seeded(1<<32)": Seeded(1 << 32),
		"first split": parent.Split(), "second split": parent.Split(),
		"Crypto": crypto, "split of Crypto": crypto.Split(), "second Crypto": Crypto(),
	} {
		for range 1000 {
			w := s.Uint64()
			if other, ok := seen[w]; ok {
				t.Fatalf("%s repeats a word of %s", name, other)
			}
			seen[w] = name
		}
	}
}

// Each bit of the words is fair, and so is the exclusive or of neighbours.
func TestWordsAreUniform(t *testing.T) {
	statistical(t)
	for _, s := range []*Source{Seeded(3), Seeded(3).Split()} {
		const draws = 100_000
		var ones, flips [64]int64
		var last uint64
		for range draws {
			w := s.Uint64()
			for i := range 64 {
				ones[i] += int64(w >> i & 1)
				flips[i] += int64((w ^ last) >> i & 1)
			}
			last = w
		}
		for i := range 64 {
			stattest.Require(t, stattest.TwoSided(ones[i], draws, 0.5), "ones")
			stattest.Require(t, stattest.TwoSided(flips[i], draws, 0.5), "flips")
		}
	}
}

// Words do not stay in the buffer once handed out.
func TestHandedOutWordsAreWiped(t *testing.T) {
	s := Seeded(4)
	for i := range 3*bufferWords + 17 {
		w := s.Uint64()
		if slices.Contains(s.buf[:], w) {
			t.Fatalf("word %d is still in the buffer", i)
		}
	}
}

// A private source takes new entropy after rekeyEvery buffers and not before;
// a seeded one never does.
func TestRekeying(t *testing.T) {
	const words = bufferWords * rekeyEvery
	stream := func(private bool, osSeed uint64) []uint64 {
		cryptotest.SetGlobalRandom(t, osSeed)
		var key [8 * keyWords]byte
		s := newSource(&key, private)
		w := make([]uint64, words+bufferWords)
		for i := range w {
			w[i] = s.Uint64()
		}
		return w
	}
	a, b := stream(true, 1), stream(true, 2)
	if !slices.Equal(a[:words], b[:words]) {
		t.Error("equal keys give different words before the rekeying")
	}
	for i := words; i < len(a); i++ {
		if a[i] == b[i] {
			t.Fatalf("word %d does not depend on the new entropy", i)
		}
	}
	if !slices.Equal(stream(false, 1), stream(false, 2)) {
		t.Error("a seeded source depends on crypto/rand")
	}
}

func TestSplitSourcesRunConcurrently(t *testing.T) {
	for _, parent := range []*Source{Crypto(), Seeded(5)} {
		var group sync.WaitGroup
		ones := make([]int64, 4)
		for i := range ones {
			s := parent.Split()
			group.Go(func() {
				for range 20_000 {
					ones[i] += int64(bits.OnesCount64(uint64(s.RoundedNormal(MaxScale)) & 0xff))
				}
			})
		}
		group.Wait()
		for _, n := range ones {
			stattest.Require(t, stattest.TwoSided(n, 8*20_000, 0.5), "low bits of a split source")
		}
	}
}
