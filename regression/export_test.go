package regression

import (
	"github.com/curveil/curveil/mechanism"
	"github.com/curveil/curveil/privacy"
)

// Sabotage makes the client's noise the given fraction of what it should be.
func (c *Client) Sabotage(factor float64) {
	mu, err := c.model.Stream.Mu(c.budget)
	if err != nil {
		panic(err)
	}
	ball, err := c.model.Stream.ball()
	if err != nil {
		panic(err)
	}
	if c.device, err = mechanism.NewDevice(ball, privacy.GDP(float64(mu)/factor)); err != nil {
		panic(err)
	}
}

var Features = features
