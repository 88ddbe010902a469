package audit_test

import (
	"context"
	"fmt"
	"log"

	"github.com/curveil/curveil/audit"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/privacy"
)

// An attack on a release that has half the noise it claims to have.
func Example() {
	subject, err := audit.MeanFTP(privacy.GDP(2))
	if err != nil {
		log.Fatal(err)
	}
	subject.Claim = privacy.GDP(1)
	report, err := audit.Run(context.Background(), subject, audit.Options{Releases: 4000, Source: noise.Seeded(1)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("refuted:", report.Refuted())
	// Output: refuted: true
}
