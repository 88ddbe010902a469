package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/curveil/curveil/audit"
	"github.com/curveil/curveil/plot"
	"github.com/curveil/curveil/privacy"
)

func auditCommand() *cobra.Command {
	var mu, epsilon float64
	var o audit.Options
	var picture string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit [MECHANISM…]",
		Short: "Try to break a mechanism: an empirical lower bound on its privacy loss",
		Long: `Runs the real release path many times on two neighbouring data sets, the worst
case for the mechanism, and lets an attacker tell them apart. The attacker's
success proves a lower bound on the privacy loss, with exact (Clopper-Pearson)
confidence. A bound above the claim refutes it (exit code 1); a bound close below
shows that less noise would have been noticed.

Without a name all mechanisms are audited. No data are read.`,
		Example: `  curveil audit
  curveil audit mean/fit-then-protect --mu 0.5 --releases 200000 --plot tradeoff.svg`,
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, g := range []privacy.Guarantee{privacy.GDP(mu), privacy.Pure(epsilon)} {
				if err := g.Validate(); err != nil {
					return usageError{err}
				}
			}
			if o.Releases < 1000 || !(o.Confidence > 0 && o.Confidence < 1) {
				return usagef("--releases must be 1000 or more, --confidence between 0 and 1")
			}
			if picture != "" {
				if len(names) != 1 {
					return usagef("--plot draws one mechanism: name one")
				}
				if err := plot.CheckPath(picture); err != nil {
					return usageError{err}
				}
			}
			subjects, err := audit.Subjects(privacy.GDP(mu), privacy.Pure(epsilon))
			if err != nil {
				return err
			}
			if subjects, err = choose(subjects, names); err != nil {
				return err
			}
			var refuted []string
			var rows []auditRow
			t := newTable(cmd.OutOrStdout())
			if !asJSON {
				fmt.Fprintln(t, "mechanism\tclaimed\tproven at least\tverdict\tworst case")
			}
			for _, s := range subjects {
				r, err := audit.Run(cmd.Context(), s, o)
				if err != nil {
					return err
				}
				row := newAuditRow(r)
				rows = append(rows, row)
				if r.Refuted() {
					refuted = append(refuted, s.Name)
				}
				if !asJSON {
					fmt.Fprintf(t, "%s\t%s\t%s %.4f\t%s\t%s\n", s.Name, row.Claim, row.Currency, row.Proven, row.Verdict, s.About)
				}
				if picture != "" {
					if err := saveTradeoff(picture, r); err != nil {
						return err
					}
				}
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), rows)
			} else {
				err = t.Flush()
			}
			if err == nil && len(refuted) > 0 {
				err = fmt.Errorf("refuted: %s: do not use this build, and report it", strings.Join(refuted, ", "))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.Float64Var(&mu, "mu", 1, "budget μ at which Gaussian mechanisms are audited")
	f.Float64Var(&epsilon, "epsilon", 1, "budget ε at which mechanisms of pure DP are audited")
	f.IntVar(&o.Releases, "releases", 100_000, "releases for each of the two neighbours")
	f.Float64Var(&o.Confidence, "confidence", 1-1e-6, "confidence of the bound")
	f.StringVar(&picture, "plot", "", "picture of the attacker's errors over the claimed trade-off curve (.svg, .png, .pdf)")
	addJSON(cmd, &asJSON)
	return cmd
}

type auditRow struct {
	Mechanism  string  `json:"mechanism"`
	Claim      string  `json:"claim"`
	Currency   string  `json:"currency"`
	Claimed    float64 `json:"claimed"`
	Proven     float64 `json:"proven_at_least"`
	Confidence float64 `json:"confidence"`
	Releases   int     `json:"releases"`
	Verdict    string  `json:"verdict"`
}

func newAuditRow(r *audit.Report) auditRow {
	row := auditRow{Mechanism: r.Subject.Name, Claim: fmt.Sprint(r.Subject.Claim), Currency: "μ", Claimed: r.Claimed,
		Proven: r.Bound(), Confidence: r.Confidence, Releases: r.Releases, Verdict: "holds"}
	if _, pure := r.Subject.Claim.(privacy.Pure); pure {
		row.Currency = "ε"
	}
	if r.Refuted() {
		row.Verdict = "REFUTED"
	}
	return row
}

func choose(all []audit.Subject, names []string) ([]audit.Subject, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []audit.Subject
	var known []string
	for _, s := range all {
		known = append(known, s.Name)
		if slices.Contains(names, s.Name) {
			out = append(out, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, usagef("no mechanism %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}

func saveTradeoff(path string, r *audit.Report) error {
	var mu privacy.GDP
	switch claim := r.Subject.Claim.(type) {
	case privacy.Pure:
		mu = claim.GDP()
	default:
		mu = privacy.GDP(r.Claimed)
	}
	p, err := plot.Tradeoff(r.Points, mu, plot.Options{Title: r.Subject.Name, Level: r.Confidence})
	if err != nil {
		return err
	}
	return p.Save(path)
}
