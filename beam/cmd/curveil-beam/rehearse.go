package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/publish"
)

// rehearse says what a run would spend, whether the ledger would allow it, and the error
// to expect. No pipeline runs.
func rehearse(cmd *cobra.Command, e publish.Expenditure) error {
	var said bytes.Buffer
	if err := publish.Rehearse(cmd.Context(), &said, e.Statement, e); err != nil {
		return err
	}
	// The core command has read all of the data, and says so in its first line.
	_, rest, _ := strings.Cut(said.String(), "\n")
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "dry run: the call, the files' names, the first file's header and the ledger were checked; no pipeline ran, nothing was spent and nothing released\n%s", rest)
	return err
}

// predicted is the error to expect, where the public number of people is known.
func predicted(n int64, words func() string) func() string {
	if n > 0 {
		return words
	}
	return func() string { return "needs --n, the public number of people: nobody was counted" }
}
