// The configuration as text: what a shard of a cohort, on another machine or in
// another year, needs to make sums that can be added to these.

package mean

import (
	"encoding/json"
	"fmt"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/release"
	"github.com/curveil/curveil/space"
)

type configJSON struct {
	Space      json.RawMessage   `json:"space"`
	Radius     float64           `json:"radius"`
	Privacy    privacy.Statement `json:"privacy"`
	Method     Method            `json:"method"`
	Components []string          `json:"components"`
	Reference  []referenceJSON   `json:"reference,omitempty"`
	Grid       []float64         `json:"grid,omitempty"`
	Raw        bool              `json:"raw,omitempty"`
	N          int64             `json:"n,omitempty"`
	XLabel     string            `json:"x_label,omitempty"`
	YLabel     string            `json:"y_label,omitempty"`
	UnixTime   bool              `json:"unix_time,omitempty"`
}

// referenceJSON is a constant, or the points of a table.
type referenceJSON struct {
	Constant float64   `json:"constant,omitempty"`
	T        []float64 `json:"t,omitempty"`
	X        []float64 `json:"x,omitempty"`
}

// Encode writes the configuration as JSON, defaults filled in. It holds public
// numbers only.
func (c Config) Encode() ([]byte, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	sp, err := json.Marshal(c.Space)
	if err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	out := configJSON{
		Space: sp, Radius: c.Radius, Privacy: c.statement(), Method: c.Method, Components: c.Components,
		Grid: c.Grid, Raw: c.Raw, N: c.N, XLabel: c.XLabel, YLabel: c.YLabel, UnixTime: c.UnixTime,
	}
	for _, r := range c.Reference {
		var j referenceJSON
		if k, constant := r.IsConstant(); constant {
			j.Constant = k
		} else {
			j.T, j.X = r.Points()
		}
		out.Reference = append(out.Reference, j)
	}
	return json.Marshal(out)
}

// DecodeConfig reads what Encode wrote, strictly, and checks it.
func DecodeConfig(data []byte) (Config, error) {
	var in configJSON
	if err := strictjson.Decode("mean: parameters", data, &in); err != nil {
		return Config{}, err
	}
	sp, err := space.Unmarshal(in.Space)
	if err != nil {
		return Config{}, fmt.Errorf("mean: parameters: %w", err)
	}
	if in.Privacy.Adjacency != privacy.ReplaceOne {
		return Config{}, fmt.Errorf("mean: parameters: adjacency %q must be %s", in.Privacy.Adjacency, privacy.ReplaceOne)
	}
	c := Config{
		Space: sp, Radius: in.Radius, Guarantee: in.Privacy.Guarantee, Unit: in.Privacy.Unit, Method: in.Method, Components: in.Components,
		Grid: in.Grid, Raw: in.Raw, N: in.N, XLabel: in.XLabel, YLabel: in.YLabel, UnixTime: in.UnixTime,
	}
	for _, j := range in.Reference {
		r := release.Constant(j.Constant)
		if j.T != nil {
			if r, err = release.Table(j.T, j.X); err != nil {
				return Config{}, fmt.Errorf("mean: parameters: %w", err)
			}
		}
		c.Reference = append(c.Reference, r)
	}
	return c, c.Validate()
}
