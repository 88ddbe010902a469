// A Source is a private stream of uniform words: ChaCha8 with fast key erasure,
// no lock, one per goroutine.

package noise

import (
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

const (
	// bufferWords and the four words of the next key are together what ChaCha8
	// of math/rand/v2 computes in four chunks.
	bufferWords = 120
	keyWords    = 4

	// rekeyEvery is the number of buffers between two keys from the operating
	// system: 64·120 words, 60 KiB, some hundred normal draws.
	rekeyEvery = 64
)

// Source is a stream of uniform bits. It is not for concurrent use: give each
// goroutine its own, from [Crypto] or [Source.Split]. There is no global state
// and no lock.
//
// The generator is ChaCha8. Each buffer of 120 words is followed by four words
// that become the next key, and each word is wiped when it is handed out (fast
// key erasure, Bernstein 2017), so an image of the memory does not tell the
// noise of the past. A cryptographic Source also mixes 32 bytes of crypto/rand
// into the key every 64 buffers (60 KiB): ChaCha8 does not need it, but it
// bounds how much future noise a leaked state, or the copy of a virtual machine
// restored from a snapshot, can tell. Making a new Source for each release gives
// that release a fresh key.
type Source struct {
	buf     [bufferWords]uint64
	pos     int // buf[pos:] is still to be handed out
	gen     rand.ChaCha8
	buffers int // until the next key from the operating system
	private bool

	// A digit of a lazily extended deviate is the top width bits of a word.
	// Always 64, except in tests, where narrow digits make the rare extension
	// of digits frequent.
	width uint
}

// Crypto returns a Source keyed from crypto/rand. It costs about a microsecond,
// so it can be made for each call. Like crypto/rand it cannot fail: the program
// crashes if the operating system gives no randomness.
func Crypto() *Source {
	var key [8 * keyWords]byte
	cryptorand.Read(key[:])
	return newSource(&key, true)
}

// Seeded returns a deterministic Source, for tests and demonstrations only:
// whoever knows or guesses the seed can subtract the noise. Its Private method
// reports false, and a release made with it must say so. The sequence for a
// given seed is stable across versions and platforms.
func Seeded(seed uint64) *Source {
	key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("curveil/noise seeded\x00"), seed))
	return newSource(&key, false)
}

func newSource(key *[8 * keyWords]byte, private bool) *Source {
	s := &Source{pos: bufferWords, buffers: rekeyEvery, private: private, width: 64}
	s.gen.Seed(*key)
	clear(key[:])
	return s
}

// Private reports whether the noise is unpredictable: true for Crypto, false
// for Seeded.
func (s *Source) Private() bool { return s.private }

// Split returns an independent Source for another goroutine: with a fresh key
// for Crypto, with a key drawn from s, hence deterministic, for Seeded.
func (s *Source) Split() *Source {
	if s.private {
		return Crypto()
	}
	var key [8 * keyWords]byte
	for i := range keyWords {
		binary.LittleEndian.PutUint64(key[8*i:], s.Uint64())
	}
	return newSource(&key, false)
}

// Uint64 returns a uniform word.
func (s *Source) Uint64() uint64 {
	if s.pos >= bufferWords {
		s.refill()
	}
	w := s.buf[s.pos]
	s.buf[s.pos] = 0
	s.pos++
	return w
}

func (s *Source) refill() {
	for i := range s.buf {
		s.buf[i] = s.gen.Uint64()
	}
	s.pos = 0
	var key [8 * keyWords]byte
	if s.private {
		if s.buffers--; s.buffers == 0 {
			s.buffers = rekeyEvery
			cryptorand.Read(key[:])
		}
	}
	for i := range keyWords {
		b := key[8*i:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^s.gen.Uint64())
	}
	s.gen.Seed(key)
	clear(key[:])
}
