package main

// Flags of the runners after which no pipeline runs. A runner that does not know such a
// flag ignores it, and would run: so they are refused on all runners, before anything else.

import (
	"flag"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/curveil/curveil/internal/flags"
)

// refused are the flags, and why.
var refused = map[string]string{
	"async":             "the noise is drawn here, when the pipeline is done",
	"execute_async":     "the noise is drawn here, when the pipeline is done",
	"dry_run":           "it would print the job on one runner only, and run it on the others; --dry-run checks the call and spends nothing, on any runner",
	"template_location": "a job that is started later has nobody to draw its noise",
	"dot_file":          "a picture of the pipeline is no release",
}

// running are the runners that run a pipeline, as Beam spells them.
var running = []string{"prism", "PrismRunner", "universal", "portable", "PortableRunner", "flink", "FlinkRunner", "spark", "SparkRunner", "dataflow", "DataflowRunner", "direct", "DirectRunner"}

// explainRefused says so in the help.
func explainRefused(f *pflag.FlagSet) {
	for name := range refused {
		f.Lookup(name).Usage = "refused: no pipeline would run, or nobody would wait for it: there would be no release"
	}
}

// refuse refuses what was given of them. A boolean set to false, or a text to nothing,
// is as not given.
func refuse(given *pflag.FlagSet) (err error) {
	given.Visit(func(f *pflag.Flag) {
		if why := refused[f.Name]; why != "" && err == nil && f.Value.String() != "" && f.Value.String() != "false" {
			err = flags.Usagef("--%s is refused, with every --runner: %s", f.Name, why)
		}
	})
	if err != nil {
		return err
	}
	if runner := flag.Lookup("runner").Value.String(); runner != "" && !slices.Contains(running, runner) {
		return flags.Usagef("--runner %s is refused: it runs no pipeline, or is not known; there are prism, universal, flink, spark and dataflow", runner)
	}
	for _, name := range []string{"experiments", "dataflow_service_options"} {
		if strings.Contains(flag.Lookup(name).Value.String(), "graph_validate_only") {
			return flags.Usagef("--%s graph_validate_only is refused: no pipeline would run, and there would be no release; --dry-run checks the call", name)
		}
	}
	return nil
}
