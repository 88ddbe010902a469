package audit

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/regression"
	"github.com/curveil/curveil/space"
)

// RegressionReport is one person's regression report: an outcome far above the curve against
// one far below, where the feature is longest.
func RegressionReport(claim privacy.Approx) (Subject, error) {
	sp, err := space.Fourier(space.Interval{A: 0, B: 1}, 3)
	if err != nil {
		return Subject{}, err
	}
	server, err := regression.NewServer(regression.Stream{
		Name: "audit", Basis: regression.OneVariable(sp), Tau: 1, Budget: claim, Steps: regression.Steps{Gamma0: 0.1, Exponent: 0.5},
	}.WithDefaults())
	if err != nil {
		return Subject{}, err
	}
	model := server.Model()
	x := []float64{0.3}
	var clients sync.Map // one for each source, of the same law as a new one for each release
	along := make([]float64, sp.Dim())
	sp.Eval(along, x[0])
	return Subject{
		Name:  "regression/report",
		About: "one person's outcome moves from far below the curve to far above it",
		Claim: claim,
		Release: func(k int, src *noise.Source) (float64, error) {
			client, ok := clients.Load(src)
			if !ok {
				c, err := regression.NewClient(model, regression.ClientConfig{Source: src, Ledger: unlimited{}})
				if err != nil {
					return 0, err
				}
				client, _ = clients.LoadOrStore(src, c)
			}
			r, err := client.(*regression.Client).Contribute(context.Background(), x, 1e9*(2*float64(k)-1))
			if err != nil {
				return 0, err
			}
			var s float64
			for j, v := range r.Coordinates {
				s += along[j] * float64(v)
			}
			return s, nil
		},
	}, nil
}

// unlimited is the ledger of an attacker who has the same person report again and
// again, which the person's own ledger would not.
type unlimited struct{}

func (unlimited) Spend(context.Context, string, any, privacy.Statement) (func(context.Context, [sha256.Size]byte) error, error) {
	return func(context.Context, [sha256.Size]byte) error { return nil }, nil
}
