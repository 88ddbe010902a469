package beam

import (
	"encoding/json"

	"github.com/curveil/curveil/fit"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func marshal(v any) ([]byte, error) { return json.Marshal(v) }

func longCurve() (fit.Curve, error) {
	return fit.Curve{{T: []float64{0, 1}, X: []float64{2, 3}}, {T: []float64{0.5}, X: []float64{4}}}, nil
}
