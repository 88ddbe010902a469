package collector

import (
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiter bounds the requests of one address. Addresses are kept in memory, as long as they ask.
type limiter struct {
	rate  rate.Limit
	burst int
	mu    sync.Mutex
	of    map[string]*visitor
	swept time.Time
}

type visitor struct {
	bucket *rate.Limiter
	seen   time.Time
}

const (
	visitorsKept = 100_000
	visitorAge   = time.Minute
)

func newLimiter(perSecond float64) *limiter {
	if perSecond <= 0 {
		return nil
	}
	return &limiter{rate: rate.Limit(perSecond), burst: max(1, int(2*perSecond)), of: map[string]*visitor{}}
}

// allow takes one request of the address.
func (l *limiter) allow(r *http.Request, now time.Time) bool {
	if l == nil {
		return true
	}
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	// One host often has a whole /64 of IPv6.
	if ip := net.ParseIP(address); ip != nil && ip.To4() == nil {
		address = ip.Mask(net.CIDRMask(64, 128)).String()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > visitorAge || len(l.of) > visitorsKept {
		for a, v := range l.of {
			if now.Sub(v.seen) > visitorAge {
				delete(l.of, a)
			}
		}
		l.swept = now
	}
	v := l.of[address]
	if v == nil {
		if len(l.of) > visitorsKept {
			return false
		}
		v = &visitor{bucket: rate.NewLimiter(l.rate, l.burst)}
		l.of[address] = v
	}
	v.seen = now
	return v.bucket.AllowN(now, 1)
}
