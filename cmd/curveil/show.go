package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/release"
)

// showDeltas are the δ at which a summary states ε.
var showDeltas = []float64{1e-3, 1e-6, 1e-9}

func readRelease(path string) (*release.Release, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := release.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func showCommand() *cobra.Command {
	var asJSON bool
	var deltas []float64
	cmd := &cobra.Command{
		Use:   "show RELEASE",
		Short: "What a release is and what it guarantees",
		Args:  exactArgs(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, d := range deltas {
				if !(d > 0 && d < 1) {
					return usagef("--delta %g must lie between 0 and 1", d)
				}
			}
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			if len(deltas) == 0 {
				deltas = showDeltas
			}
			if asJSON {
				return publish.SummaryJSON(cmd.OutOrStdout(), r, deltas...)
			}
			publish.Summary(cmd.OutOrStdout(), r, deltas...)
			return nil
		},
	}
	cmd.Flags().Float64SliceVar(&deltas, "delta", nil, "δ at which to state ε (repeatable)")
	addJSON(cmd, &asJSON)
	return cmd
}

// The look of all output.
var (
	newTable  = publish.Table
	printJSON = publish.JSON
)

// addJSON gives a verb its --json flag.
func addJSON(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON instead of text")
}
