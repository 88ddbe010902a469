// The configuration as text, for shards of one population on several machines.

package density

import (
	"encoding/json"
	"fmt"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/privacy"
	"github.com/curveil/curveil/space"
)

type configJSON struct {
	Box      [][2]float64      `json:"box"`
	Names    []string          `json:"names,omitempty"`
	Basis    Basis             `json:"basis"`
	Periodic bool              `json:"periodic,omitempty"`
	Set      space.Set         `json:"set"`
	Rank     []int             `json:"rank"`
	Method   Method            `json:"method"`
	Rule     Rule              `json:"rule"`
	Kappa    []float64         `json:"kappa,omitempty"`
	Plain    bool              `json:"plain,omitempty"`
	Privacy  privacy.Statement `json:"privacy"`
	Outside  Outside           `json:"outside"`
	N        int64             `json:"n,omitempty"`
}

// Encode writes the configuration as JSON. It holds public numbers only. Take that of [Density.Config], whose
// rank is settled.
func (c Config) Encode() ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	out := configJSON{
		Names: c.Names, Basis: c.Basis, Periodic: c.Periodic, Set: c.Set, Rank: c.Rank, Method: c.Method, Rule: c.Rule,
		Kappa: c.Kappa, Plain: c.Plain, Privacy: c.statement(), Outside: c.Outside, N: c.N,
	}
	for _, side := range c.Box {
		out.Box = append(out.Box, [2]float64{side.A, side.B})
	}
	return json.Marshal(out)
}

// DecodeConfig reads what Encode wrote, strictly, and checks it.
func DecodeConfig(data []byte) (Config, error) {
	var in configJSON
	if err := strictjson.Decode("density: parameters", data, &in); err != nil {
		return Config{}, err
	}
	if in.Privacy.Adjacency != privacy.ReplaceOne {
		return Config{}, fmt.Errorf("density: parameters: adjacency %q must be %s", in.Privacy.Adjacency, privacy.ReplaceOne)
	}
	c := Config{
		Names: in.Names, Basis: in.Basis, Periodic: in.Periodic, Set: in.Set, Rank: in.Rank, Method: in.Method, Rule: in.Rule,
		Kappa: in.Kappa, Plain: in.Plain, Guarantee: in.Privacy.Guarantee, Unit: in.Privacy.Unit, Outside: in.Outside, N: in.N,
	}
	for _, side := range in.Box {
		c.Box = append(c.Box, space.Interval{A: side[0], B: side[1]})
	}
	return c, c.Validate()
}
