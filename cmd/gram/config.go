package main

import (
	"fmt"

	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/spf13/cobra"
)

func configCommand(a *app) *cobra.Command {
	var origin bool
	view := &cobra.Command{
		Use:   "view",
		Short: "Print the settings in effect",
		Example: `  gram config view
  gram config view --show-origin`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return viewConfig(a, origin) },
	}
	view.Flags().BoolVar(&origin, "show-origin", false, "say where each value comes from")
	return command.Group("config", "Explain the configuration", "  gram config view --show-origin", view)
}

func viewConfig(a *app, origin bool) error {
	cfg := a.flags.config
	token := cfg.Token
	if token.Text != "" {
		token.Text = "(set)"
	}
	type setting struct {
		Name   string `json:"name"`
		Value  string `json:"value"`
		Origin string `json:"origin"`
	}
	var settings []setting
	for _, s := range []struct {
		name  string
		value clientconfig.Value
	}{
		{"context", cfg.Context}, {"addr", cfg.Addr}, {"cacert", cfg.CACert}, {"token_file", cfg.TokenFile},
		{"token", token}, {"output", cfg.Output}, {"color", cfg.Color},
	} {
		settings = append(settings, setting{s.name, s.value.Text, s.value.Origin})
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int       `json:"schema_version"`
			Settings      []setting `json:"settings"`
		}{show.SchemaVersion, settings})
	}
	var table terminal.Table
	for _, s := range settings {
		row := []string{s.Name, s.Value}
		if s.Value == "" {
			row[1] = "-"
		}
		if origin && s.Origin != "" {
			row = append(row, fmt.Sprintf("(%s)", s.Origin))
		}
		table.Row(row...)
	}
	table.Write(a.out)
	return nil
}
