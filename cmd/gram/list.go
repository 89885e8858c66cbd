package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func listCommand(a *app) *cobra.Command {
	var limit int
	var state string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, newest first",
		Example: `  gram list
  gram list --state running --limit 5
  gram list -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			want, err := parseState(state)
			if err != nil {
				return err
			}
			if limit < 1 {
				return &exit.Failure{Code: exit.Usage, What: "--limit is at least 1"}
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			jobs, more, err := c.List(cmd.Context(), limit, want)
			if err != nil {
				return err
			}
			if more {
				a.note("gram: there are more; --limit %d shows twice as many", 2*limit)
			}
			return printJobs(a, jobs)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most this `many`")
	cmd.Flags().StringVar(&state, "state", "", "only jobs in this `state`, such as running or failed")
	return cmd
}

// parseState reads a state as people write it; "" is any.
func parseState(word string) (gramv1.JobState, error) {
	if word == "" {
		return gramv1.JobState_JOB_STATE_UNSPECIFIED, nil
	}
	var known []string
	for i := int32(1); i < int32(len(gramv1.JobState_name)); i++ {
		name := strings.ToLower(show.StateName(gramv1.JobState(i)))
		if name == strings.ToLower(word) {
			return gramv1.JobState(i), nil
		}
		known = append(known, name)
	}
	f := &exit.Failure{Code: exit.Usage,
		What: fmt.Sprintf("unknown state %q; known: %s", word, strings.Join(known, ", "))}
	if near := protocol.Nearest(word, known); near != "" {
		f.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return 0, f
}

func printJobs(a *app, jobs []*gramv1.Job) error {
	if a.flags.output == "json" {
		return printEnds(a, jobs)
	}
	palette := a.palette(a.out)
	table := terminal.Table{Paint: func(row, column int, text string) string {
		if row > 0 && column == 1 {
			return paintState(palette, text)
		}
		return text
	}}
	table.Row("ID", "STATE", "KIND", "DONE", "SUBMITTED")
	for _, job := range jobs {
		done := "-"
		if p := job.GetProgress(); p.GetLeaves() > 0 && !client.Ended(job.GetState()) {
			done = fmt.Sprintf("%d/%d", p.GetLeavesDone(), p.GetLeaves())
		}
		table.Row(job.GetId(), show.StateName(job.GetState()), job.GetKind(), done,
			terminal.Elapsed(a.now().Sub(time.UnixMilli(job.GetSubmittedUnixMs())))+" ago")
	}
	table.Write(a.out)
	return nil
}
