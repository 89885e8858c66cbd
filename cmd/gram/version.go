package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/spf13/cobra"
)

// version is set by the linker.
var version string

type versionView struct {
	SchemaVersion int    `json:"schema_version"`
	Version       string `json:"version"`
	Commit        string `json:"commit,omitempty"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
	Kernels       string `json:"kernels"`
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and the kernel set this CPU runs",
		Example: `  gram version
  gram version -o json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			ops, err := local.ChooseKernels("")
			if err != nil {
				return err
			}
			name, commit := build()
			v := versionView{show.SchemaVersion, name, commit, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH,
				ops.Name}
			if a.flags.output == "json" {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "gram %s\n", terminal.Clean(v.Version))
			var table terminal.Table
			if v.Commit != "" {
				table.Row("commit", v.Commit)
			}
			table.Row("go", v.Go)
			table.Row("platform", v.Platform)
			table.Row("kernels", v.Kernels)
			table.Write(a.out)
			return nil
		},
	}
}

// buildText is the build as a worker reports it.
func buildText() string {
	name, commit := build()
	if commit != "" {
		return fmt.Sprintf("%s (%s)", name, commit)
	}
	return name
}

// build names this build: what the linker was told, or else the module's version, and the commit.
func build() (name, commit string) {
	name = version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return name, ""
	}
	if name == "" {
		name = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			commit = s.Value
		}
	}
	return name, commit
}
