package main

// A release with a name can be taken up again after a crash. Its debit carries the
// name; what was drawn is put beside the release's place, then booked, then moved there.
// So a debit without a booked release has shown its noise to nobody, and one with a
// booked release has its bytes on disk: the run that comes after spends nothing and,
// once noise was drawn, gives the same answer.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/release"
)

// releaseFlags say where the release goes, which ledger pays, and under what name.
type releaseFlags struct {
	out    publish.Output
	budget publish.Budget
	name   string
	asJSON bool
}

func (r *releaseFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	r.out.Register(f)
	r.budget.Register(f)
	r.budget.RegisterDry(f)
	f.Lookup("dry-run").Usage = "check the call, the files' names and the ledger, say what would be spent and, with --n, the error to expect; run no pipeline, spend and release nothing"
	f.Lookup("out").Usage = "file for the release (JSON), on this machine; needed, since runners write to standard output"
	f.Lookup("dataset").Usage = "name of the data set in the ledger"
	f.StringVar(&r.name, "release-name", "", "name of this release in the ledger: the same call after a crash goes on under the first one's debit")
	f.BoolVar(&r.asJSON, "json", false, "print JSON instead of text")
}

// check refuses what could not be written or booked, before the pipeline runs.
func (r *releaseFlags) check() error {
	switch {
	case r.out.Out == "":
		return flags.Usagef("-o FILE is needed: runners write to standard output")
	case r.budget.Where != "none" && r.budget.Dataset == "":
		return flags.Usagef("--dataset is needed: the name under which the ledger knows the people of these files")
	case r.budget.Where == "none" && r.name != "":
		return flags.Usagef("--release-name is looked up in the ledger, and --ledger is none")
	}
	out := r.out
	out.Force = out.Force || r.name != "" // a named release finds its own file there
	return out.Check()
}

// crash is where tests end the process.
var crash = func(place string) {}

// earlier returns the debit of the release's name, or nil.
func (r *releaseFlags) earlier(ctx context.Context, book *ledger.Ledger) (*ledger.Event, error) {
	if r.name == "" || book == nil {
		return nil, nil
	}
	events, err := book.History(ctx, r.budget.Dataset)
	var unknown *ledger.UnknownError
	if errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		var p struct {
			Name string `json:"release_name"`
		}
		if e.Kind == ledger.Debited && json.Unmarshal(e.Parameters, &p) == nil && p.Name == r.name {
			return &e, nil
		}
	}
	return nil, nil
}

// publish runs the pipeline, debits, draws, writes and books. A named release that an
// earlier run has begun is finished.
func (r *releaseFlags) publish(cmd *cobra.Command, e publish.Expenditure, run func() (draw func() (*release.Release, error), err error)) error {
	ctx := cmd.Context()
	book, err := r.budget.Open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if book != nil {
		defer book.Close()
	}
	e.Budget, e.Book, e.Dataset = &r.budget, book, r.budget.Dataset
	if r.name == "" {
		if r.budget.Dry {
			return rehearse(cmd, e)
		}
		// What the ledger refuses is refused before the work, and once more by the debit.
		if _, err := publish.Afford(ctx, e); err != nil {
			return err
		}
		draw, err := run()
		if err != nil {
			return err
		}
		return publish.Release(cmd, e, &r.out, r.asJSON, draw)
	}
	e.Parameters, err = named(e.Parameters, r.name)
	if err != nil {
		return err
	}
	debit, err := r.earlier(ctx, book)
	if err != nil {
		return err
	}
	switch {
	case debit == nil:
		if _, err := os.Lstat(r.out.Out); err == nil && !r.out.Force {
			return flags.Usagef("%s exists: a release cannot be had again without spending again; give another name, or --force", r.out.Out)
		}
		// What lies beside is of another ledger, or of another data set.
		if _, err := os.Lstat(r.pending()); err == nil {
			return flags.Usagef("%s is left of a release that this ledger does not know: move it away, or name its ledger and data set", r.pending())
		}
		if r.budget.Dry {
			return rehearse(cmd, e)
		}
		if _, err := publish.Afford(ctx, e); err != nil {
			return err
		}
	case !same(debit, e):
		return flags.Usagef("release %q of data set %q was debited by %s %v with %s: finish it with the same flags, or give this one another --release-name", r.name, e.Dataset, debit.Verb, debit.Statement, debit.Parameters)
	case r.budget.Dry:
		state := "was debited and never released: it would be finished, and nothing more be spent"
		if debit.Release != "" {
			state = "was made before: nothing would run, and nothing more be spent"
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "dry run: release %q (event %d) %s\n", r.name, debit.Seq, state)
		return err
	case debit.Release != "":
		return r.again(cmd, debit)
	default:
		if text, err := os.ReadFile(r.pending()); err == nil {
			return r.finish(cmd, book, debit.Seq, text)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "curveil-beam: release %q was debited (event %d) and never drawn: nothing more is spent\n", r.name, debit.Seq)
	}
	draw, err := run()
	if err != nil {
		return err
	}
	var seq int64
	if debit != nil {
		seq = debit.Seq
	} else {
		if _, err := r.budget.Debit(ctx, book, e.Dataset, e.Verb, e.Statement, e.Parameters); err != nil {
			return err
		}
		if debit, err = r.earlier(ctx, book); err != nil {
			return err
		}
		if debit == nil || debit.Release != "" || !same(debit, e) {
			return errors.New("another call with this --release-name came between: this one's debit is spent, not released")
		}
		seq = debit.Seq
	}
	crash("debited")
	made, err := draw()
	if err != nil {
		return err
	}
	text, err := publish.Encode(made)
	if err != nil {
		return err
	}
	if err := writePending(r.pending(), text); err != nil {
		return fmt.Errorf("%w; the debit (event %d) stands: call again with this --release-name, and nothing more is spent", err, seq)
	}
	crash("drawn")
	return r.finish(cmd, book, seq, text)
}

// pending is where a named release lies until it is booked.
func (r *releaseFlags) pending() string { return r.out.Out + ".pending" }

// writePending writes all or nothing, for the owner, and never over another's.
func writePending(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// finish books what was drawn and moves it to its place.
func (r *releaseFlags) finish(cmd *cobra.Command, book *ledger.Ledger, seq int64, text []byte) error {
	made, err := release.Decode(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", r.pending(), err)
	}
	// An interrupt now must not leave it unbooked.
	ctx := context.WithoutCancel(cmd.Context())
	if err := book.Complete(ctx, r.budget.Dataset, seq, r.budget.Spender(), sha256.Sum256(text)); err != nil {
		return err
	}
	crash("booked")
	if err := r.move(); err != nil {
		return err
	}
	return r.report(cmd, made)
}

func (r *releaseFlags) move() error {
	return errors.Join(os.Chmod(r.pending(), 0o644), os.Rename(r.pending(), r.out.Out))
}

// again finds the bytes of a release that was booked.
func (r *releaseFlags) again(cmd *cobra.Command, debit *ledger.Event) error {
	for _, path := range []string{r.out.Out, r.pending()} {
		text, err := os.ReadFile(path)
		if sum := sha256.Sum256(text); err != nil || hex.EncodeToString(sum[:]) != debit.Release {
			continue
		}
		if path == r.pending() {
			if err := r.move(); err != nil {
				return err
			}
		}
		made, err := release.Decode(bytes.NewReader(text))
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "curveil-beam: release %q was made before: nothing more is spent\n", r.name)
		return r.report(cmd, made)
	}
	return fmt.Errorf("release %q of data set %q was made before (SHA-256 %s) and is not in %s: find that file; another draw of noise is another release, under another --release-name", r.name, debit.Dataset, debit.Release, r.out.Out)
}

// report prints and draws what is safe already.
func (r *releaseFlags) report(cmd *cobra.Command, made *release.Release) error {
	if !r.asJSON {
		publish.Summary(cmd.OutOrStdout(), made)
	} else if err := publish.SummaryJSON(cmd.OutOrStdout(), made); err != nil {
		return r.out.Afterwards("the summary", "show", err)
	}
	if r.out.Picture != "" {
		if err := publish.Picture(r.out.Picture, made, plot.Options{}); err != nil {
			return r.out.Afterwards("the picture", "plot", err)
		}
	}
	return nil
}

// named adds the name to the parameters of a debit.
func named(parameters any, name string) (map[string]any, error) {
	text, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if err := d.Decode(&out); err != nil && err != io.EOF {
		return nil, err
	}
	out["release_name"] = name
	return out, nil
}

// same reports whether the debit is of the same release: verb, statement, parameters.
func same(debit *ledger.Event, e publish.Expenditure) bool {
	var have, want any
	text, err := json.Marshal(e.Parameters)
	if err != nil || json.Unmarshal(debit.Parameters, &have) != nil || json.Unmarshal(text, &want) != nil {
		return false
	}
	a, errA := json.Marshal(have)
	b, errB := json.Marshal(want)
	return errA == nil && errB == nil && bytes.Equal(a, b) && debit.Verb == e.Verb && debit.Statement == e.Statement
}
