package regression

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/curveil/curveil/internal/strictjson"
)

// Model is a stream and where it stands: what a client needs to contribute. It is public.
type Model struct {
	Stream Stream
	// At is the version: the number of reports applied.
	At int64
	// Coordinates are those of the current iterate a, at which gradients are to be taken (not of the estimate, its
	// average).
	Coordinates []float64
}

const (
	modelName     = "regression-model"
	positionName  = "regression-position"
	reportName    = "regression-report"
	formatVersion = 1
)

func (m Model) validate() error {
	if err := m.Stream.Validate(); err != nil {
		return err
	}
	return checkPosition(m.At, m.Coordinates, m.Stream.Basis.Dim())
}

func checkPosition(at int64, coordinates []float64, dim int) error {
	if at < 0 {
		return fmt.Errorf("regression: model version %d must be at least 0", at)
	}
	if len(coordinates) != dim {
		return fmt.Errorf("regression: model has %d coordinates, its space has dimension %d", len(coordinates), dim)
	}
	for j, v := range coordinates {
		if !(math.Abs(v) <= largest) {
			return fmt.Errorf("regression: coordinate %d of the model is %v: it must be a number below %g", j, v, largest)
		}
	}
	return nil
}

// MarshalJSON writes {"curveil":"regression-model","version":1,"stream":{…},"fingerprint":"…","at":n,"coordinates":[…]}.
func (m Model) MarshalJSON() ([]byte, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	stream, err := json.Marshal(m.Stream)
	if err != nil {
		return nil, err
	}
	return marshalModel(stream, m.At, m.Coordinates)
}

func marshalModel(stream json.RawMessage, at int64, coordinates []float64) ([]byte, error) {
	return json.Marshal(struct {
		Curveil     string          `json:"curveil"`
		Version     int             `json:"version"`
		Stream      json.RawMessage `json:"stream"`
		Fingerprint string          `json:"fingerprint"`
		At          int64           `json:"at"`
		Coordinates []float64       `json:"coordinates"`
	}{modelName, formatVersion, stream, fingerprint(stream).String(), at, coordinates})
}

// UnmarshalJSON reads what MarshalJSON writes, strictly, and checks all that a client relies on.
func (m *Model) UnmarshalJSON(data []byte) error {
	o, err := readFormat(modelName, data)
	if err != nil {
		return err
	}
	var out Model
	stream, err := o.Raw("stream")
	if err != nil {
		return err
	}
	var claimed string
	if err := o.Take("fingerprint", &claimed); err != nil {
		return err
	}
	if err := takePosition(o, &out.At, &out.Coordinates); err != nil {
		return err
	}
	if err := out.Stream.UnmarshalJSON(stream); err != nil {
		return err
	}
	if err := checkPosition(out.At, out.Coordinates, out.Stream.Basis.Dim()); err != nil {
		return err
	}
	f, err := out.Stream.Fingerprint()
	if err != nil {
		return err
	}
	if f.String() != claimed {
		return fmt.Errorf("regression: the model's fingerprint is %s, its stream has %s: it was changed on the way, or written by a curveil that means another stream by the same words", claimed, f)
	}
	*m = out
	return nil
}

// Position is the part of a model that changes: enough for a client that has the model to go on from.
type Position struct {
	Stream      Fingerprint
	At          int64
	Coordinates []float64
}

// MarshalJSON writes {"curveil":"regression-position","version":1,"stream":"…","at":n,"coordinates":[…]}.
func (p Position) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Curveil     string    `json:"curveil"`
		Version     int       `json:"version"`
		Stream      string    `json:"stream"`
		At          int64     `json:"at"`
		Coordinates []float64 `json:"coordinates"`
	}{positionName, formatVersion, p.Stream.String(), p.At, p.Coordinates})
}

// UnmarshalJSON reads what MarshalJSON writes, strictly.
func (p *Position) UnmarshalJSON(data []byte) error {
	o, err := readFormat(positionName, data)
	if err != nil {
		return err
	}
	var out Position
	if err := takeHex(o, "stream", out.Stream[:]); err != nil {
		return err
	}
	if err := takePosition(o, &out.At, &out.Coordinates); err != nil {
		return err
	}
	if err := checkPosition(out.At, out.Coordinates, len(out.Coordinates)); err != nil {
		return err
	}
	*p = out
	return nil
}

func takePosition(o *strictjson.Object, at *int64, coordinates *[]float64) error {
	if err := o.Take("at", at); err != nil {
		return err
	}
	if err := o.TakeList("coordinates", coordinates, maxDim); err != nil {
		return err
	}
	return o.Done()
}

func readFormat(name string, data []byte) (*strictjson.Object, error) {
	o, err := strictjson.Read("regression: "+name, data)
	if err != nil {
		return nil, err
	}
	var found string
	var version int
	if err := o.Take("curveil", &found); err != nil {
		return nil, err
	}
	if found != name {
		return nil, fmt.Errorf("regression: the input is a %q, expected a %q", found, name)
	}
	if err := o.Take("version", &version); err != nil {
		return nil, err
	}
	if version != formatVersion {
		return nil, fmt.Errorf("regression: version %d of a %s is unknown, this curveil reads version %d: use a newer curveil", version, name, formatVersion)
	}
	return o, nil
}
