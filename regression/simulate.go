package regression

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// Simulation plays a stream of people through clients and a server in one process, with the same code and the same
// exact noise as over the network. It is for planning and study, and for data whose people have consented to
// their (x, y) being in one place: whoever runs it sees them.
type Simulation struct {
	Stream Stream
	// Source of the noise; nil for noise.Crypto().
	Source *noise.Source
	// Delay is how many versions old the model is at which people answer, as under load; it must not exceed the
	// stream's staleness.
	Delay int
	// Budget is the budget of person i = 0, 1, …; nil for the stream's for all.
	Budget func(i int64) privacy.Approx
	// After is called after each report; the server must not be changed. nil for nothing.
	After func(v *Server)
}

// Simulate plays the points, one person each, and returns the server at the end: its Estimate and Release.
func Simulate(ctx context.Context, c Simulation, points iter.Seq[Point]) (*Server, error) {
	one := make([]Point, 1)
	return SimulatePeople(ctx, c, func(yield func([]Point) bool) {
		for one[0] = range points {
			if !yield(one) {
				return
			}
		}
	})
}

// SimulatePeople is Simulate for people with several points each, of which each makes one report; see [Client.ContributeAll].
func SimulatePeople(ctx context.Context, c Simulation, people iter.Seq[[]Point]) (*Server, error) {
	v, err := NewServer(c.Stream)
	if err != nil {
		return nil, err
	}
	if c.Delay < 0 || int64(c.Delay) > v.stream.Staleness {
		return nil, fmt.Errorf("regression: a delay of %d versions, the stream accepts up to %d", c.Delay, v.stream.Staleness)
	}
	if c.Source == nil {
		c.Source = noise.Crypto()
	}
	clients := map[privacy.Approx]*Client{}
	past := make([]Position, c.Delay+1) // the last positions, by version modulo their number
	for i := range past {
		past[i].Coordinates = make([]float64, len(v.it.a))
	}
	r := &Report{Coordinates: make([]int64, len(v.it.a))}
	for points := range people {
		if v.n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(points) == 0 {
			return nil, fmt.Errorf("regression: person %d has no points", v.n+1)
		}
		for _, p := range points {
			if err := checkPoint(v.stream.Basis, p.X, p.Y); err != nil {
				return nil, fmt.Errorf("%w (person %d)", err, v.n+1)
			}
		}
		budget := v.stream.Budget
		if c.Budget != nil {
			budget = c.Budget(v.n)
		}
		client := clients[budget]
		if client == nil {
			if client, err = NewClient(v.Model(), ClientConfig{Budget: budget, Source: c.Source}); err != nil {
				return nil, err
			}
			if len(clients) < maxTerms {
				clients[budget] = client
			}
		}
		now := &past[v.n%int64(len(past))]
		now.At = v.n
		copy(now.Coordinates, v.it.a)
		seen := &past[max(0, v.n-int64(c.Delay))%int64(len(past))]
		client.model.At = seen.At
		copy(client.model.Coordinates, seen.Coordinates)
		if err := client.privatize(r, points); err != nil {
			return nil, err
		}
		if _, err := v.Apply(r); err != nil {
			return nil, fmt.Errorf("%w (person %d)", err, v.n+1)
		}
		if c.After != nil {
			c.After(v)
		}
	}
	return v, nil
}

// Sequence is the points of a slice.
func Sequence(points []Point) iter.Seq[Point] { return slices.Values(points) }
