// Command curveil-beam makes the releases of 'curveil mean' and 'curveil density' from
// files of any size, on an Apache Beam runner: prism in this process by default, or Flink,
// Spark, Dataflow. It parses, calls and prints; the pipeline is package beam, the flags
// are those of the core command (internal/flags, internal/publish).
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
	"github.com/spf13/pflag"

	"github.com/curveil/curveil/internal/flags"
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
	work()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// work does not return where a runner started this program as a worker.
func work() {
	if slices.ContainsFunc(os.Args[1:], func(a string) bool { return a == "--worker" || a == "--worker=true" }) {
		flag.Parse()
		sdk.Init()
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "curveil-beam: %s\n", flags.Spell(strings.TrimPrefix(err.Error(), "beam: "), cmd.Flags()))
	var over *ledger.OverspendError
	var usage flags.UsageError
	switch {
	case errors.As(err, &over):
		return exitBudget
	case errors.As(err, &usage), strings.HasPrefix(err.Error(), "unknown command"):
		fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "curveil-beam",
		Short: "Private means and densities on an Apache Beam runner",
		Long: `The releases of 'curveil mean' and 'curveil density' from many or large files, on an Apache
Beam runner. The sums are, to the bit, those of one process; noise is drawn and the ledger
debited here, once, after the pipeline is done. docs/beam.md says what a runner's operator sees.`,
		SilenceErrors: true, SilenceUsage: true,
		Version: fmt.Sprint(thisVersion()),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := passOn(cmd.Flags()); err != nil {
				return err
			}
			return refuse(cmd.Flags())
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flags.Usage(err) })
	root.AddCommand(meanCommand(), densityCommand(), versionCommand())
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().AddGoFlagSet(flag.CommandLine) // the runners' own
	explainRefused(root.PersistentFlags())
	return root
}

// passOn marks the runners' flags as set in the standard flag set too: there the
// runners look for what was given (Dataflow's options, such as --use_public_ips).
func passOn(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if flag.Lookup(f.Name) != nil && f.Value.Type() != "stringSlice" && err == nil {
			err = flag.Set(f.Name, f.Value.String())
		}
	})
	if err != nil {
		return flags.Usage(err)
	}
	return nil
}

func someFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return flags.Usagef("no files given: name CSV or Parquet files, or patterns such as 'gs://bucket/part-*.csv'")
	}
	return nil
}
