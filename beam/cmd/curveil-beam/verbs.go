package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/beam"
	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/density"
	"github.com/curveil/curveil/mean"
	"github.com/curveil/curveil/noise"
	"github.com/curveil/curveil/release"
)

// jobFlags are what a pipeline needs beside the flags of the core command.
type jobFlags struct {
	exchange, unitName string
	chunk              int64
	deduplicate        bool
}

func (j *jobFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.exchange, "exchange", "", "folder that workers can write to and this program can read, such as gs://bucket/tmp: the sum passes through it, encrypted (default with prism: a temporary one)")
	f.Int64Var(&j.chunk, "chunk", 64<<20, "bytes of a CSV file that one worker reads at a time; 0 reads files whole, for fields that hold line ends")
	f.BoolVar(&j.deduplicate, "deduplicate", false, "drop repeated rows: of one person, alike in time and values")
	f.StringVar(&j.unitName, "unit-name", "", "what one protected person is called, such as child (default: the column's name)")
}

// run runs the pipeline over the files.
func (j *jobFlags) run(ctx context.Context, verb string, files []string, source beam.Source, config []byte) ([]byte, error) {
	runner := cmp.Or(*runners.Runner, "prism")
	if *jobopts.Async {
		return nil, usagef("--async cannot be served: the noise is drawn here, when the pipeline is done")
	}
	exchange := j.exchange
	if exchange == "" {
		if !strings.HasPrefix(strings.ToLower(runner), "prism") {
			return nil, usagef("--exchange is needed with --runner %s: a folder that workers can write to and this program can read", runner)
		}
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
	return beam.Job{Verb: verb, Source: source, Config: config, Chunks: chunks, Exchange: exchange, Runner: runner}.Run(ctx)
}

// header reads the first file's header.
func header(ctx context.Context, patterns []string, open func(path string, r io.Reader) error) error {
	chunks, err := beam.Chunks(ctx, patterns[:1], 0)
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
	var m meanFlags
	var in inputFlags
	var job jobFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "mean FILE…",
		Short: "Private mean curve of a cohort",
		Example: `  curveil-beam mean 'growth-*.csv' --bound 60 --center const:120 --mu 1 --dataset growth -o growth.json
  curveil-beam mean 'gs://b/growth-*.csv' --bound 60 --mu 1 --dataset growth -o growth.json --runner dataflow --exchange gs://b/tmp --project P --region europe-west1 --staging_location gs://b/staging`,
		Args: someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, err := in.options()
			if err != nil {
				return err
			}
			if m.domain != "" {
				d, err := parseDomain("--domain", m.domain)
				if err != nil {
					return err
				}
				o.Domain = &d
			}
			if err := out.check(); err != nil {
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
			cfg, err := m.config(cmd.Flags(), schema)
			if err != nil {
				return err
			}
			cfg.Unit = cmp.Or(job.unitName, schema.Unit, schema.ID)
			if cfg.Unit == "" || cfg.Unit == "id" {
				cfg.Unit = "person"
			}
			first, err := mean.New(cfg)
			if err != nil {
				return usageError{err}
			}
			config, err := first.Config().Encode()
			if err != nil {
				return err
			}
			if cfg, err = mean.DecodeConfig(config); err != nil {
				return err
			}
			source, err := beam.SourceOf(o, schema)
			if err != nil {
				return usageError{err}
			}
			book, err := out.open(ctx, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			sum, err := job.run(ctx, beam.Mean, args, source, config)
			if err != nil {
				return err
			}
			acc, err := mean.New(cfg)
			if err != nil {
				return err
			}
			if err := acc.UnmarshalBinary(sum); err != nil {
				return err
			}
			if err := acc.Ready(); err != nil {
				return err
			}
			return out.publish(cmd, book, beam.Mean, cfg.Statement(), map[string]any{
				"space": cfg.Space.String(), "domain": []float64{cfg.Space.Domain().A, cfg.Space.Domain().B}, "radius": cfg.Radius,
				"method": cfg.Method, "components": cfg.Components, "raw": cfg.Raw,
			}, func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
		},
	}
	m.register(cmd.Flags())
	in.register(cmd.Flags())
	job.register(cmd)
	out.register(cmd)
	return cmd
}

func densityCommand() *cobra.Command {
	var d densityFlags
	var in inputFlags
	var job jobFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:     "density FILE…",
		Short:   "Private smooth density of points in a box",
		Example: `  curveil-beam density 'pickups-*.csv' --columns lon,lat --bounds -122.52:-122.35,37.60:37.82 --rho 0.5 --n 90000 --dataset pickups -o pickups.json`,
		Args:    someFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, err := d.config(cmd.Flags())
			if err != nil {
				return err
			}
			o, err := in.options()
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			c.Unit = cmp.Or(job.unitName, o.Unit, "row")
			acc, err := density.New(c)
			if err != nil {
				return usageError{err}
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
			book, err := out.open(ctx, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if book != nil {
				defer book.Close()
			}
			sum, err := job.run(ctx, beam.Density, args, beam.Source{Components: d.columns, Unit: o.Unit, Separator: o.Separator, Decimal: o.Decimal}, config)
			if err != nil {
				return err
			}
			if err := acc.UnmarshalBinary(sum); err != nil {
				return err
			}
			n, err := acc.N()
			if err != nil {
				return err
			}
			if n == 0 || d.n != 0 && n != d.n {
				return usagef("the files hold %d people, and --n says %d", n, d.n)
			}
			return out.publish(cmd, book, beam.Density, c.Statement(), map[string]any{
				"space": acc.Space().String(), "box": c.Box, "method": c.Method, "rule": c.Rule, "outside": c.Outside,
			}, func() (*release.Release, error) { return acc.Release(noise.Crypto()) })
		},
	}
	d.register(cmd.Flags())
	in.registerCSV(cmd.Flags())
	job.register(cmd)
	out.register(cmd)
	return cmd
}
