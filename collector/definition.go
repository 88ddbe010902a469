package collector

import (
	"fmt"
	"regexp"

	"github.com/curveil/curveil/internal/strictjson"
	"github.com/curveil/curveil/regression"
)

// Definition is a stream and the collector's rules for it. It is public and never changes.
type Definition struct {
	Stream regression.Stream `json:"stream"`
	// People is the number of people expected, for the warnings; 0 when not known.
	People int64 `json:"people"`
	// Quota is the number of reports after which the stream takes no more; 0 for no end.
	Quota int64 `json:"quota"`
	// Invitations says that a report needs an invitation, which is good for one.
	Invitations bool `json:"invitations"`
	// Demonstration accepts reports with noise from a seeded source, which protects nobody.
	Demonstration bool `json:"demonstration"`
}

// The name of a stream is part of addresses.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

const maxStreams = 1000

func (d Definition) validate() error {
	if !validName.MatchString(d.Stream.Name) {
		return fmt.Errorf("collector: stream name %.80q must begin with a letter or digit and hold at most 64 of a-z, 0-9, dot, dash and underscore", d.Stream.Name)
	}
	if d.People < 0 || d.Quota < 0 {
		return fmt.Errorf("collector: people %d and quota %d must not be negative", d.People, d.Quota)
	}
	return d.Stream.Validate()
}

// Warnings are those of the stream for the people expected, or for the quota.
func (d Definition) Warnings() []string {
	n := d.People
	if n == 0 {
		n = d.Quota
	}
	w := d.Stream.Warnings(n)
	if d.Demonstration {
		w = append(w, "reports with noise from a seeded source are accepted: for demonstrations only")
	}
	return w
}

func readDefinition(text []byte) (d Definition, err error) {
	if err := strictjson.Decode("collector: definition of a stream", text, &d); err != nil {
		return d, err
	}
	return d, d.validate()
}
