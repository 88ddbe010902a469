package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/flags"
	"github.com/curveil/curveil/internal/publish"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/privacy"
)

func ledgerCap(where *string) *cobra.Command {
	var g flags.Guarantee
	var unit, who, per, metric string
	var none, local bool
	cmd := &cobra.Command{
		Use:   "cap DATASET --mu M | --rho R | --epsilon E --delta D | --none",
		Short: "Set, change or remove the cap of a data set",
		Long: `Sets what may be spent on a data set in all. Releases about many people (mean, density, …) add up in μ, and
their cap is a μ, ρ or (ε, δ). Releases of 'curveil curve' add up per unit of distance: their cap is a
ρ per squared unit, or an ε per unit, whichever of the two the data set's releases are made with. What a data
set is counted in is fixed by its first release or cap; --per says of a new one that it holds a curve
or track, and in which unit its distances are.`,
		Example: `  curveil ledger cap growth --mu 2 --unit-name child
  curveil ledger cap cab_038 --rho 0.001 --per m
  curveil ledger cap ecg --epsilon 0.5 --per units`,
		Args: exactArgs(1, "one data set"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			f := cmd.Flags()
			change := ledger.CapChange{Dataset: args[0], Who: (&publish.Budget{Who: who}).Spender(), Unit: unit}
			if local {
				change.Adjacency = privacy.Local
			}
			if f.Changed("per") && (per == "" || local) || f.Changed("metric") && !slices.Contains([]string{string(privacy.RMS), string(privacy.L2)}, metric) {
				return usagef("--per UNIT is the unit of a curve's values, such as m or mV, or units where the file names none; --metric is rms or l2; neither goes with --local")
			}
			if !none {
				if change.Cap, err = g.Stated(f); err != nil {
					return err
				}
			}
			l, err := ledger.Open(cmd.Context(), *where)
			if err != nil {
				return err
			}
			defer l.Close()
			have, err := termsOf(cmd.Context(), l, args[0])
			if err != nil {
				return err
			}
			if f.Changed("per") || have != nil && have.Currency != ledger.GDP {
				if err := perDistance(&change, have, per, f.Changed("metric") || have == nil, metric); err != nil {
					return err
				}
			} else if have == nil && (unit == unitOfTrack || unit == unitOfCurve) {
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: this caps means, densities and the like of many %ss; releases of 'curveil curve' are counted per unit of distance, which --per says, such as --per m\n", unit)
			}
			near, err := publish.NewName(cmd.Context(), l, args[0])
			switch {
			case err != nil:
				return err
			case near != "" && change.Unit == "":
				return usagef("no data set %q: is %q meant? A new one needs --unit-name, what one protected person is called, or for a curve --per", args[0], near)
			case near != "":
				fmt.Fprintf(cmd.ErrOrStderr(), "curveil: WARNING: data set %q is new to the ledger, which has %q: the same people under two names are spent on twice\n", args[0], near)
			}
			if err := l.SetCap(cmd.Context(), change); err != nil {
				return explainCap(err)
			}
			s, err := l.Show(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a, err := newAccount(s, []float64{1e-6, 1e-9})
			if err != nil {
				return err
			}
			printAccount(cmd.OutOrStdout(), s, a)
			return nil
		},
	}
	g.Register(cmd.Flags())
	f := cmd.Flags()
	f.Lookup("rho").Usage = "cap as ρ-zCDP; of a curve, as ρ per squared unit of distance"
	f.Lookup("epsilon").Usage = "cap as (ε,δ)-DP, with --delta; of a curve, as ε per unit of distance"
	f.Lookup("mu").Usage = "cap as μ-GDP"
	f.Lookup("delta").Usage = "δ of an (ε,δ)-DP cap"
	f.StringVar(&per, "per", "", "of a data set that is new to the ledger: it holds a curve or track of 'curveil curve', whose distances are in this unit: m for tracks on the ground, as the file has it for signals, units where it names none")
	f.StringVar(&metric, "metric", string(privacy.RMS), "with --per: the distance between curves, as in 'curveil curve'")
	f.StringVar(&unit, "unit-name", "", "what one protected person is called, such as child, of a data set that is new to the ledger (with --per not needed)")
	f.StringVar(&unit, "unit", "", "the same") // as it was called once
	_ = f.MarkHidden("unit")
	f.StringVar(&who, "who", "", "who sets the cap (default: the user of this machine)")
	f.BoolVar(&none, "none", false, "remove the cap")
	f.BoolVar(&local, "local", false, "of a data set that is new to the ledger: one person's own data, from which 'curveil contribute' spends")
	return cmd
}

// termsOf returns the terms of a data set, nil for one that the ledger does not know.
func termsOf(ctx context.Context, l *ledger.Ledger, dataset string) (*ledger.Terms, error) {
	s, err := l.Show(ctx, dataset)
	var unknown *ledger.UnknownError
	if errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &s.Terms, nil
}

// perDistance makes the change one of a curve's cap, for a data set with these terms or a new one.
func perDistance(c *ledger.CapChange, have *ledger.Terms, per string, metricSaid bool, metric string) error {
	switch g := c.Cap.(type) {
	case nil:
	case privacy.ZCDP:
		c.Cap = privacy.ConcentratedGeo(g)
	case privacy.Pure:
		c.Cap = privacy.Geo(g)
	default:
		return usagef("%v caps no curve: give --rho R, per squared unit of distance, or --epsilon E, per unit, whichever its releases are made with", g)
	}
	if metricSaid {
		c.Metric = privacy.Metric(metric)
	}
	if have != nil {
		if per == "" {
			return nil
		}
		if per == noUnit {
			per = ""
		}
		if per != have.Distance { // an empty one is not compared by the ledger
			return &ledger.MismatchError{Dataset: c.Dataset, Field: "unit of distance", Have: have.Distance, Want: per}
		}
		return nil
	}
	want := unitOfCurve
	if per == metres {
		want = unitOfTrack
	}
	if c.Unit != "" && c.Unit != want {
		return usagef("--unit-name %q: 'curveil curve' protects a %s per %s; leave the flag out", c.Unit, want, per)
	}
	c.Unit = want
	if per != noUnit {
		c.Distance = per
	}
	return nil
}

// noUnit is what --per calls values whose file names no unit.
const noUnit = "units"

// explainCap says which flags would do.
func explainCap(err error) error {
	var m *ledger.MismatchError
	if !errors.As(err, &m) || m.Field != "currency" {
		return err
	}
	switch ledger.Currency(m.Have) {
	case ledger.Geo:
		return fmt.Errorf("%w: its cap is an --epsilon, per unit of distance", err)
	case ledger.ConcentratedGeo:
		return fmt.Errorf("%w: its cap is a --rho, per squared unit of distance", err)
	}
	return fmt.Errorf("%w: its cap is a --mu, a --rho, or an --epsilon with --delta, without --per", err)
}
