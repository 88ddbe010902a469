package collector

import "sync"

// live lets others wait for a stream to change.
type live struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next change
}

// next is closed when the stream changes after the call.
func (l *live) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *live) announce() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}
