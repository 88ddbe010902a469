package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core"
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/internal/flags"
)

// version can be stamped (-ldflags "-X main.version=…"); otherwise it is what Go took from git.
var version string

// versionInfo says what was built, from what. Driver and workers must agree in it.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Beam     string `json:"beam"` // of the SDK: the tag of its images
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisVersion() versionInfo {
	v := versionInfo{Version: version, Beam: core.SdkVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	v.Version = cmp.Or(v.Version, "development")
	return v
}

func (v versionInfo) String() string {
	return fmt.Sprintf("curveil-beam %s (Beam %s, %s, %s)", v.Version, v.Beam, v.Go, v.Platform)
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Version of this program, and of the Beam SDK in it",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return flags.Usagef("version takes no argument")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(thisVersion())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), thisVersion())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}
