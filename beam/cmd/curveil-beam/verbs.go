package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

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
