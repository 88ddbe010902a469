package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/beam"
	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
)

// jobFlags are what a pipeline needs beside the flags of the core command.
type jobFlags struct {
	exchange    string
	chunk       int64
	deduplicate bool
	verbose     bool
}

func (j *jobFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.exchange, "exchange", "", "folder that workers can write to and this program can read, such as gs://bucket/tmp: the sum passes through it, encrypted (default where the workers are this process: a temporary one)")
	f.Int64Var(&j.chunk, "chunk", 64<<20, "bytes of a CSV file that one worker reads at a time; 0 reads files whole, for fields that hold line ends")
	f.BoolVar(&j.deduplicate, "deduplicate", false, "drop repeated rows: of one person, alike in time and values")
	f.BoolVar(&j.verbose, "verbose", false, "print what the runner says, in full")
}

func runner() string { return cmp.Or(*runners.Runner, "prism") }

// inside reports whether the runner and its workers are this process.
func (j *jobFlags) inside() bool {
	return strings.HasPrefix(strings.ToLower(runner()), "prism") && *jobopts.Endpoint == ""
}

// check refuses what no pipeline could serve, and makes this program its own worker
// where it can be: the SDK would compile one from sources, which need not be here.
func (j *jobFlags) check() error {
	if jobopts.IsLoopback() || j.inside() {
		return nil // the workers are this process
	}
	if j.exchange == "" {
		return flags.Usagef("--exchange is needed with --runner %s: a folder that workers can write to and this program can read", runner())
	}
	if *jobopts.WorkerBinary != "" {
		return nil
	}
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		return flags.Usagef("--worker_binary FILE is needed: curveil-beam of this version, built for the workers' system (CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build ./cmd/curveil-beam)")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	*jobopts.WorkerBinary = self
	return nil
}

// run runs the pipeline over the files.
func (j *jobFlags) run(cmd *cobra.Command, verb string, files []string, source beam.Source, config []byte) (*beam.Total, error) {
	ctx := cmd.Context()
	exchange := j.exchange
	if exchange == "" {
		dir, err := os.MkdirTemp("", "curveil-beam-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		exchange = dir
	}
	chunks, err := beam.Chunks(ctx, files, j.chunk)
	if err != nil {
		return nil, err
	}
	source.Deduplicate = j.deduplicate
	sdk.Init()
	j.listen(cmd.ErrOrStderr())
	total, err := beam.Job{Verb: verb, Source: source, Config: config, Chunks: chunks, Exchange: exchange, Runner: runner()}.Run(ctx)
	var failed *beam.Failure
	if j.verbose && errors.As(err, &failed) {
		fmt.Fprintln(cmd.ErrOrStderr(), failed.Runner)
	}
	return total, err
}

// header lists all files and opens the first: r holds its first lines when it is CSV.
func header(ctx context.Context, patterns []string, open func(path string, r io.Reader) error) error {
	chunks, err := beam.Chunks(ctx, patterns, 0)
	if err != nil {
		return err
	}
	path := chunks[0].Path
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return open(path, nil)
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1<<20)) // whole lines of the first megabyte
	if err != nil {
		return err
	}
	if i := bytes.LastIndexByte(head, '\n'); len(head) == 1<<20 && i > 0 {
		head = head[:i+1]
	}
	return open(path, bytes.NewReader(head))
}

func meanCommand() *cobra.Command {
	var m flags.Mean
	var in flags.Input
	var job jobFlags
	var to releaseFlags
	var unitName string
	cmd := &cobra.Command{
		Use:   "mean FILE…",
		Short: "Private mean curve of a cohort",
		Example: `  curveil-beam mean 'growth-*.csv' --bound 60 --center const:120 --mu 1 --dataset growth -o growth.json
  curveil-beam mean 'gs://b/growth-*.csv' --bound 60 --mu 1 --dataset growth -o growth.json --runner dataflow --exchange gs://b/tmp --project P --region europe-west1 --staging_location gs://b/staging`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, err := in.Options()
			if err != nil {
				return err
			}
			if err := m.Restrict(&o); err != nil {
				return err
			}
			if m.AutoBound() {
				return flags.Usagef("--bound auto is not offered here: 'curveil bound' buys one from a file, under the same ledger")
			}
			if err := to.check(); err != nil {
				return err
			}
			if err := job.check(); err != nil {
				return err
			}
			var schema dataset.Schema
			err = header(ctx, args, func(path string, r io.Reader) (err error) {
				var file *dataset.Reader
				if r == nil {
					file, err = dataset.Open(path, o)
				} else {
					file, err = dataset.NewCSV(r, path, o)
				}
				if err == nil {
					schema = file.Schema()
					err = file.Close()
				}
				return err
			})
			if err != nil {
				return err
			}
			if err := flags.CheckPeople(schema, o); err != nil {
				return err
			}
			if len(schema.Ignored) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil-beam: columns not read: %s\n", strings.Join(schema.Ignored, ", "))
			}
			source, err := beam.SourceOf(o, schema)
			if err != nil {
				return flags.Usage(err)
			}
			cfg, err := m.Config(cmd.Flags(), schema.Components, schema.Times)
			if err != nil {
				return err
			}
			cfg.Unit = cmp.Or(unitName, flags.UnitOf(schema))
			first, err := mean.New(cfg)
			if err != nil {
				return flags.Usage(err)
			}
			config, err := first.Config().Encode()
			if err != nil {
				return err
			}
			if cfg, err = mean.DecodeConfig(config); err != nil {
				return err
			}
			return to.publish(cmd, publish.Expenditure{
				Verb: beam.Mean, Statement: cfg.Statement(), Parameters: flags.MeanParameters(cfg),
				Predicted: predicted(cfg.N, func() string { return flags.PredictMean(cfg, cfg.N) }),
			}, func() (func() (*release.Release, error), error) {
				total, err := job.run(cmd, beam.Mean, args, source, config)
				if err != nil {
					return nil, err
				}
				acc, err := mean.New(cfg)
				if err != nil {
					return nil, err
				}
				if err := acc.UnmarshalBinary(total.Sum); err != nil {
					return nil, err
				}
				if n, err := acc.N(); err == nil {
					publish.Remarks(cmd.ErrOrStderr(), flags.MeanRemarks(acc.Config(), n)...)
				}
				return func() (*release.Release, error) { return acc.Release(noise.Crypto()) }, acc.Ready()
			})
		},
	}
	m.Register(cmd.Flags())
	cmd.Flags().Lookup("bound").Usage = "radius: how far a curve can be from the center, as a root-mean-square in the values' units (in a kernel space, as its norm); curves outside are pulled in; 'curveil bound' buys one"
	in.Register(cmd.Flags())
	flags.RegisterUnitName(cmd.Flags(), &unitName)
	job.register(cmd)
	to.register(cmd)
	return cmd
}

func densityCommand() *cobra.Command {
	var d flags.Density
	var points flags.Points
	var job jobFlags
	var to releaseFlags
	cmd := &cobra.Command{
		Use:     "density FILE…",
		Short:   "Private smooth density of points in a box",
		Example: `  curveil-beam density 'pickups-*.csv' --columns lon,lat --bounds -122.52:-122.35,37.60:37.82 --rho 0.5 --n 90000 --dataset pickups -o pickups.json`,
		Args:    someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, err := d.Config(cmd.Flags())
			if err != nil {
				return err
			}
			if err := d.NeedColumns(); err != nil {
				return err
			}
			if d.N == 0 && d.Rank == nil {
				return flags.Usagef("give --n, the public number of people, or --rank: people are not counted beforehand here")
			}
			o, err := points.Options(d.Columns)
			if err != nil {
				return err
			}
			if err := to.check(); err != nil {
				return err
			}
			if err := job.check(); err != nil {
				return err
			}
			c.Unit = points.Name()
			acc, err := density.New(c)
			if err != nil {
				return flags.Usage(err)
			}
			err = header(ctx, args, func(path string, r io.Reader) (err error) {
				var file *dataset.Points
				if r == nil {
					file, err = dataset.OpenPoints(path, o)
				} else {
					file, err = dataset.NewPointsCSV(r, path, o)
				}
				if err != nil {
					return err
				}
				if r == nil {
					defer file.Close()
				}
				return points.CheckPeople(file.PersonColumn())
			})
			if err != nil {
				return err
			}
			config, err := acc.Config().Encode()
			if err != nil {
				return err
			}
			if c, err = density.DecodeConfig(config); err != nil {
				return err
			}
			if acc, err = density.New(c); err != nil {
				return err
			}
			source := beam.Source{Components: d.Columns, Unit: o.Unit, Separator: o.Separator, Decimal: o.Decimal}
			return to.publish(cmd, publish.Expenditure{
				Verb: beam.Density, Statement: c.Statement(), Parameters: flags.DensityParameters(acc),
				Predicted: predicted(d.N, func() string { return flags.PredictDensity(c, d.N) }),
			}, func() (func() (*release.Release, error), error) {
				total, err := job.run(cmd, beam.Density, args, source, config)
				if err != nil {
					return nil, err
				}
				if err := acc.UnmarshalBinary(total.Sum); err != nil {
					return nil, err
				}
				n, err := acc.N()
				if err != nil {
					return nil, err
				}
				if n == 0 || d.N != 0 && n != d.N {
					return nil, fmt.Errorf("the files have %d people, but the public number was stated as %d", n, d.N)
				}
				if err := judge(cmd.ErrOrStderr(), total, c.Outside, cmd.Flags().Changed("outside")); err != nil {
					return nil, err
				}
				publish.Remarks(cmd.ErrOrStderr(), flags.DensityRemarks(acc.Config(), n)...)
				return func() (*release.Release, error) { return acc.Release(noise.Crypto()) }, nil
			})
		},
	}
	d.Register(cmd.Flags())
	cmd.Flags().Lookup("n").Usage = "public number of people (needed, or --rank: they are not counted beforehand here)"
	points.Register(cmd.Flags())
	cmd.Flags().Lookup("unit").Usage = "column that tells people apart, when one person has several rows, in any order and in any of the files; - when each row is a person's"
	job.register(cmd)
	to.register(cmd)
	return cmd
}
