// Command curveil releases functions with a privacy guarantee. It parses,
// calls the library and prints; the mathematics is in the packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/nearest"
	"github.com/curveil/curveil/ledger"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the data or the machine
	exitUsage  = 2 // the words of the call
	exitBudget = 3 // the budget does not allow it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one call and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "curveil: %s\n", flags.Spell(strings.TrimSuffix(err.Error(), "\n"), cmd.Flags()))
	var over *ledger.OverspendError
	if errors.As(err, &over) {
		return exitBudget
	}
	var usage flags.UsageError
	if !errors.As(err, &usage) && !isCobraUsage(err) {
		return exitFailed
	}
	fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
	return exitUsage
}

// usageError marks what is wrong with the call itself; it is a flags.UsageError.
type usageError struct{ error }

func (usageError) Usage() {}

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return flags.Usagef(format, args...) }

// isCobraUsage recognises the errors that cobra itself makes, which have no
// type of their own.
func isCobraUsage(err error) bool {
	s := err.Error()
	return strings.HasPrefix(s, "unknown command") || strings.HasPrefix(s, "required flag")
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "curveil",
		Short: "Release functions with a privacy guarantee",
		Long: `curveil releases functions with a privacy guarantee: the mean curve of a cohort,
from a table of curves that must not be published themselves.

Start with 'curveil demo', then 'curveil plan mean --help'.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{flagSentence(err)} })
	root.AddCommand(demoCommand(), planCommand(), boundCommand(), meanCommand(), curveCommand(), densityCommand(), sampleCommand(), showCommand(), reportCommand(), evalCommand(), plotCommand(), ledgerCommand(), auditCommand(), reproduceCommand())
	root.AddCommand(regressCommand(), serveCommand(), contributeCommand())
	root.AddCommand(versionCommand(), generateCommand())
	root.CompletionOptions.HiddenDefaultCmd = false
	return root
}

// subverb is what a verb does that has only sub-verbs: help, or an error for a word
// that is none of them.
func subverb(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		if near := nearest.Of(args[0], names); near != "" {
			return usagef("unknown command %q for %q: is %s meant?", args[0], cmd.CommandPath(), near)
		}
		return usagef("unknown command %q for %q: it has %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
	}
	return cmd.Help()
}

// exactArgs is cobra.ExactArgs with an error that counts as usage.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s given, want %s", plural(int64(len(args)), "argument"), what)
		}
		return nil
	}
}
