// Command curveil-beam makes the releases of 'curveil mean' and 'curveil density' from
// files of any size, on an Apache Beam runner: prism in this process by default, or Flink,
// Spark, Dataflow. It parses, calls and prints; the pipeline is package beam.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx" // runners and file systems
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/ledger"
)

// Exit codes, those of curveil.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitBudget = 3
)

func main() {
	if slices.ContainsFunc(os.Args[1:], func(a string) bool { return a == "--worker" || a == "--worker=true" }) {
		flag.Parse()
		sdk.Init() // a runner started this program as a worker; does not return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "curveil-beam",
		Short: "Private means and densities on an Apache Beam runner",
		Long: `The releases of 'curveil mean' and 'curveil density' from many or large files, on an Apache
Beam runner. The sums are, to the bit, those of one process; noise is drawn and the ledger
debited here, once, after the pipeline is done. docs/beam.md says what a runner's operator sees.`,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(meanCommand(), densityCommand())
	root.PersistentFlags().AddGoFlagSet(flag.CommandLine) // the runners' own
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "curveil-beam: %v\n", err)
	var over *ledger.OverspendError
	var usage usageError
	switch {
	case errors.As(err, &over):
		return exitBudget
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"):
		fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailed
}

func someFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("no files given: name CSV or Parquet files, or patterns such as 'gs://bucket/part-*.csv'")
	}
	return nil
}
