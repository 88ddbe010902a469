package main

// Shards without an engine: each machine writes the exact sum over its people, a
// partial, and one of them merges the partials and releases. A partial is raw
// private data, since no noise is in it yet; its first lines say so to whoever
// opens it, and its mode keeps others from opening it.

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
)

const partialWarning = `# CURVEIL PARTIAL SUM: RAW PRIVATE DATA, NO NOISE IN IT. DO NOT PUBLISH, DO NOT MAIL.
# Whoever reads this file learns the sum over its people exactly; for a few people, the people.
# Delete it once it has been merged: curveil %s merge
`

const partialVersion = 1

// partialFile is the document below the warning.
type partialFile struct {
	Curveil string          `json:"curveil"` // "partial"
	Version int             `json:"version"`
	Verb    string          `json:"verb"`
	People  int64           `json:"people"`
	Config  json.RawMessage `json:"config"`
	State   []byte          `json:"state"` // of the accumulator
}

// sums are an accumulator that shards can be merged into.
type sums interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	N() (int64, error)
}

// writePartial writes the sum so that nobody else can read it.
func writePartial(path, verb string, config []byte, acc sums, force bool) (err error) {
	n, err := acc.N()
	if err != nil {
		return err
	}
	state, err := acc.MarshalBinary()
	if err != nil {
		return err
	}
	text, err := json.Marshal(partialFile{Curveil: "partial", Version: partialVersion, Verb: verb, People: n, Config: config, State: state})
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintf(f, partialWarning+"%s\n", verb, text)
	if err := errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	if force {
		return os.Rename(f.Name(), path)
	}
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	// A file system without links.
	if _, err := os.Lstat(path); err == nil {
		return usagef("%s exists: give another name, or --force", path)
	}
	return os.Rename(f.Name(), path)
}

// checkPartialOut refuses an output that could not be written, before the data
// are read.
func checkPartialOut(path string, force bool) error {
	if path == "" || path == "-" {
		return usagef("-o FILE is needed: a partial is raw private data and is written to a file of its own, with mode 0600")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return usagef("%s: the folder does not exist: make it first", path)
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return usagef("%s exists: give another name, or --force", path)
	}
	return publish.Try(path)
}

// readPartial reads a partial of the verb and warns where others can read it too.
func readPartial(path, verb string, stderr io.Writer) (p partialFile, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if p, err = decodePartial(data, path, verb); err != nil {
		return p, err
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(stderr, "curveil: WARNING: %s is raw private data and others on this machine may read it (mode %04o): chmod 600\n", path, info.Mode().Perm())
	}
	return p, nil
}

// decodePartial reads the text of a partial; path stands for it in errors.
func decodePartial(data []byte, path, verb string) (p partialFile, err error) {
	body := data
	for bytes.HasPrefix(body, []byte("#")) {
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || p.Curveil != "partial" {
		return p, fmt.Errorf("%s: not a partial written by 'curveil %s partial', or cut short: make it again", path, verb)
	}
	if _, err := d.Token(); err != io.EOF {
		return p, fmt.Errorf("%s: more text after the end of the partial: make it again", path)
	}
	if p.Version != partialVersion {
		return p, fmt.Errorf("%s: a partial of version %d; this curveil reads version %d: use one version for all shards", path, p.Version, partialVersion)
	}
	if p.Verb != verb {
		return p, fmt.Errorf("%s: a partial %s: merge it with 'curveil %s merge'", path, p.Verb, p.Verb)
	}
	if p.People < 1 {
		return p, fmt.Errorf("%s: a partial of %d people: make it again", path, p.People)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, p.Config); err != nil {
		return p, fmt.Errorf("%s: %w: make it again", path, err)
	}
	p.Config = compact.Bytes()
	return p, nil
}

// mergePartials adds all files into the accumulator that the first one's
// parameters make, and says on standard error who was added.
func mergePartials[A sums](paths []string, verb string, stderr io.Writer, make func(config []byte) (A, error)) (acc A, err error) {
	var parts []partialFile
	seen := map[[sha256.Size]byte]string{}
	for _, path := range paths {
		p, err := readPartial(path, verb, stderr)
		if err != nil {
			return acc, err
		}
		// Of the state alone: a copy that was indented anew is the same people.
		h := sha256.Sum256(p.State)
		if first, again := seen[h]; again {
			return acc, fmt.Errorf("%s holds the same sum as %s: its people would count twice, which voids the guarantee; give each partial once (two shards whose people are truly alike must be made into one partial)", path, first)
		}
		seen[h] = path
		parts = append(parts, p)
	}
	if acc, err = make(parts[0].Config); err != nil {
		return acc, fmt.Errorf("%s: %w", paths[0], err)
	}
	for i, p := range parts {
		if !bytes.Equal(p.Config, parts[0].Config) {
			return acc, fmt.Errorf("%s was made with other parameters than %s: %s", paths[i], paths[0], differs(p.Config, parts[0].Config))
		}
		before, err := acc.N()
		if err != nil {
			return acc, err
		}
		if err := acc.UnmarshalBinary(p.State); err != nil {
			return acc, fmt.Errorf("%s: %w", paths[i], err)
		}
		after, err := acc.N()
		if err != nil {
			return acc, err
		}
		if after-before != p.People {
			return acc, fmt.Errorf("%s says %d people and holds the sum of %d: the file was altered, make it again", paths[i], p.People, after-before)
		}
		fmt.Fprintf(stderr, "curveil: %s: %d people\n", paths[i], p.People)
	}
	n, err := acc.N()
	if err == nil {
		fmt.Fprintf(stderr, "curveil: %d partials, n = %d people in all; this number becomes public\n", len(parts), n)
	}
	return acc, err
}

// settledBy are the flags that settle what a configuration says, where they have
// another name.
var settledBy = map[string]string{
	"space": "--space and --domain", "radius": "--bound", "privacy": "--mu, --rho, --epsilon, --delta or --unit-name",
	"components": "--values", "reference": "--center", "box": "--bounds", "names": "--columns",
	"x_label": "--x-label", "y_label": "--y-label", "unix_time": "--zone, or how times are written in the file",
}

// differs names all parameters in which two configurations differ, with their flags.
func differs(a, b json.RawMessage) string {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return "their texts differ"
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !bytes.Equal(x[name], y[name]) {
			flag := settledBy[name]
			if flag == "" {
				flag = "--" + name
			}
			words = append(words, fmt.Sprintf("%s (%s) is %s here and %s there", name, flag, orNone(x[name]), orNone(y[name])))
		}
	}
	if words == nil {
		return "their texts differ"
	}
	return strings.Join(words, "; ") + "; make all partials with the same flags"
}

func orNone(v json.RawMessage) string {
	if v == nil {
		return "not given"
	}
	return string(v)
}

// mergeFlags are those of both merging verbs.
type mergeFlags struct {
	out    publish.Output
	budget publish.Budget
	asJSON bool
}

func mergeCommand(verb, what string, run func(cmd *cobra.Command, paths []string, f *mergeFlags) error) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge PARTIAL…",
		Short: "Release the " + what + " of several partials",
		Long: `Adds partials made with the same flags and releases the ` + what + ` of all their people, to the
bit what one run over all the files would have added up. The budget is debited once. The same
partial given twice is refused; a person whose rows lie in two shards cannot be noticed here.`,
		Example: `  curveil ` + verb + ` merge north.partial south.partial --dataset cohort -o release.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no partials given: name the files that 'curveil %s partial' wrote", verb)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.budget.Merges = true
			if err := f.out.Check(); err != nil {
				return err
			}
			if f.budget.Dataset == "" && f.budget.Where != "none" {
				return usagef("--dataset is needed: the name under which the ledger knows all these people together")
			}
			return run(cmd, args, &f)
		},
	}
	f.out.Register(cmd.Flags())
	f.budget.Register(cmd.Flags())
	f.budget.RegisterDry(cmd.Flags())
	addJSON(cmd, &f.asJSON)
	return cmd
}

// release debits and publishes what was merged.
func (f *mergeFlags) release(cmd *cobra.Command, e publish.Expenditure, draw func() (*release.Release, error)) error {
	book, err := f.budget.Open(cmd.Context(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if book != nil {
		defer book.Close()
	}
	e.Budget, e.Book, e.Dataset = &f.budget, book, f.budget.Dataset
	return publish.Release(cmd, e, &f.out, f.asJSON, draw)
}

func meanMergeCommand() *cobra.Command {
	return mergeCommand("mean", "mean", func(cmd *cobra.Command, paths []string, f *mergeFlags) error {
		acc, err := mergePartials(paths, "mean", cmd.ErrOrStderr(), meanOf)
		if err != nil {
			return err
		}
		if err := acc.Ready(); err != nil {
			return err
		}
		if err := warnMean(cmd.ErrOrStderr(), acc, nil); err != nil {
			return err
		}
		return f.release(cmd, publish.Expenditure{Verb: "mean", Statement: acc.Config().Statement(), Parameters: flags.MeanParameters(acc.Config()), Predicted: predictMean(acc)},
			func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
	})
}

func meanOf(config []byte) (*mean.Mean, error) {
	c, err := mean.DecodeConfig(config)
	if err != nil {
		return nil, err
	}
	return mean.New(c)
}

func densityOf(config []byte) (*density.Density, error) {
	c, err := density.DecodeConfig(config)
	if err != nil {
		return nil, err
	}
	return density.New(c)
}

func densityMergeCommand() *cobra.Command {
	return mergeCommand("density", "density", func(cmd *cobra.Command, paths []string, f *mergeFlags) error {
		acc, err := mergePartials(paths, "density", cmd.ErrOrStderr(), densityOf)
		if err != nil {
			return err
		}
		n, err := acc.N()
		if err != nil {
			return err
		}
		if want := acc.Config().N; want != 0 && n != want {
			return fmt.Errorf("the partials hold %d people, but the public number was stated as %d: a partial is missing, or --n was wrong", n, want)
		}
		warn(cmd.ErrOrStderr(), flags.DensityRemarks(acc.Config(), n)...)
		return f.release(cmd, publish.Expenditure{Verb: "density", Statement: acc.Config().Statement(), Parameters: flags.DensityParameters(acc),
			Predicted: func() string { return flags.PredictDensity(acc.Config(), n) }},
			func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
	})
}

const partialLong = `Adds up the people in FILE, one shard of a larger population, without noise, into a file for
'curveil %s merge'. Nothing is spent and nothing is protected: THE FILE IS RAW PRIVATE DATA, for
its owner's eyes only (mode 0600).

All shards take the same flags. All rows of a person must be in one shard. --n, when given, is the
public number of people in all shards together.`

func meanPartialCommand() *cobra.Command {
	var m flags.Mean
	var in flags.Input
	var unitName, out string
	var force bool
	cmd := &cobra.Command{
		Use:     "partial FILE",
		Short:   "Exact sum over one shard's people, raw private data, to be merged",
		Long:    fmt.Sprintf(partialLong, "mean"),
		Example: `  curveil mean partial north.csv --bound 60 --center const:120 --mu 1 -o north.partial`,
		Args:    exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPartialOut(out, force); err != nil {
				return err
			}
			if m.AutoBound() {
				return usagef("--bound auto would buy a bound in every shard: buy one with 'curveil bound', or state it")
			}
			o, err := in.Options()
			if err != nil {
				return err
			}
			file, err := openPeople(&m, cmd.ErrOrStderr(), args[0], &o)
			if err != nil {
				return err
			}
			defer file.Close()
			cfg, err := m.Config(cmd.Flags(), file.Schema().Components, file.Schema().Times)
			if err != nil {
				return err
			}
			cfg.Unit = cmp.Or(unitName, flags.UnitOf(file.Schema()))
			first, err := mean.New(cfg)
			if err != nil {
				return usageError{err}
			}
			text, err := first.Config().Encode()
			if err != nil {
				return err
			}
			var acc *mean.Mean
			var times observed
			err = readPeople(cmd, args[0], o, file, func() (adder, error) {
				acc, err = meanOf(text)
				return times.of(acc), err
			})
			if err != nil {
				return err
			}
			times.warn(cmd.ErrOrStderr(), acc.Config())
			return writeShard(out, "mean", args[0], text, acc, force, cmd.ErrOrStderr())
		},
	}
	m.Register(cmd.Flags())
	in.Register(cmd.Flags())
	in.RegisterUnsorted(cmd.Flags())
	flags.RegisterUnitName(cmd.Flags(), &unitName)
	registerPartialOut(cmd, &out, &force)
	return cmd
}

func registerPartialOut(cmd *cobra.Command, out *string, force *bool) {
	cmd.Flags().StringVarP(out, "out", "o", "", "file for the partial, raw private data")
	cmd.Flags().BoolVar(force, "force", false, "overwrite an existing file")
}

func writeShard(out, verb, in string, config []byte, acc sums, force bool, stderr io.Writer) error {
	n, err := acc.N()
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s: nobody in this shard: leave it out of the merge", in)
	}
	if err := writePartial(out, verb, config, acc, force); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "curveil: %s: the exact sum of %d people, RAW PRIVATE DATA; 'curveil %s merge' releases, then delete it\n", out, n, verb)
	return nil
}

func densityPartialCommand() *cobra.Command {
	var d flags.Density
	var points flags.Points
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:     "partial FILE",
		Short:   "Exact sum over one shard's people, raw private data, to be merged",
		Long:    fmt.Sprintf(partialLong, "density"),
		Example: `  curveil density partial monday.csv --columns lon,lat --bounds -122.52:-122.35,37.60:37.82 --rho 0.5 --n 90000 -o monday.partial`,
		Args:    exactArgs(1, "one file (or - for standard input)"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPartialOut(out, force); err != nil {
				return err
			}
			c, err := d.Config(cmd.Flags())
			if err != nil {
				return err
			}
			if len(d.Columns) == 0 {
				return usagef("--columns is needed: the variables, in the order of --bounds")
			}
			if c.N == 0 && c.Rank == nil {
				return usagef("give --n, the public number of people in all shards together, or --rank: all shards must add up the same coefficients")
			}
			o, err := points.Options(d.Columns)
			if err != nil {
				return err
			}
			c.Unit = points.Name()
			first, err := density.New(c)
			if err != nil {
				return usageError{err}
			}
			if err := checkPoints(&points, args[0], o); err != nil {
				return err
			}
			text, err := first.Config().Encode()
			if err != nil {
				return err
			}
			acc, err := densityOf(text)
			if err != nil {
				return err
			}
			if err := addPoints(cmd, args[0], o, acc); err != nil {
				return err
			}
			return writeShard(out, "density", args[0], text, acc, force, cmd.ErrOrStderr())
		},
	}
	d.Register(cmd.Flags())
	points.Register(cmd.Flags())
	registerPartialOut(cmd, &out, &force)
	return cmd
}
