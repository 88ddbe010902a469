// What is published of a stream, encoded once for each version however many ask.

package collector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

type form int

const (
	modelForm form = iota
	positionForm
	releaseForm
	pictureForm
	forms
)

// cache holds the encodings of one version each.
type cache struct {
	mu   sync.Mutex
	at   [forms]int64
	text [forms][]byte
}

// published returns the encoding of the newest version, and the version.
func (c *Collector) published(s *stream, f form) ([]byte, int64, error) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	c.mu.RLock()
	defer c.mu.RUnlock()
	at := s.server.At()
	if s.cache.text[f] != nil && s.cache.at[f] == at {
		return s.cache.text[f], at, nil
	}
	text, err := s.encode(f)
	if err != nil {
		return nil, at, err
	}
	s.cache.text[f], s.cache.at[f] = text, at
	return text, at, nil
}

func (s *stream) encode(f form) ([]byte, error) {
	switch f {
	case modelForm:
		return s.server.ModelJSON()
	case positionForm:
		return json.Marshal(s.server.Position())
	case pictureForm:
		return json.Marshal(s.picture())
	}
	r, err := s.server.Release()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = r.Encode(&b)
	return b.Bytes(), err
}

func (s *stream) etag(at int64) string {
	return fmt.Sprintf(`"%v-%d"`, s.server.Fingerprint(), at)
}
