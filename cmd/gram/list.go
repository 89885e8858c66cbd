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
	var state, since, order string
	filter := &gramv1.JobFilter{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, newest first",
		Example: `  gram list
  gram list --state running --limit 5
  gram list --name topics --since 2026-11-21 --sort took
  gram list -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return &exit.Failure{Code: exit.Usage, What: "--limit is at least 1"}
			}
			ask := &gramv1.ListRequest{Filter: filter}
			if err := parseList(a, ask, state, since, order); err != nil {
				return err
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			jobs, more, err := c.List(cmd.Context(), limit, ask)
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
	cmd.Flags().StringVar(&filter.Kind, "kind", "", "only jobs of this `kind`")
	cmd.Flags().StringVar(&filter.NameContains, "name", "", "only jobs with this `text` in their name or id")
	cmd.Flags().StringVar(&filter.ScheduleId, "schedule", "", "only jobs of the ticks of this schedule's `id`")
	cmd.Flags().StringVar(&since, "since", "", "only jobs submitted at this `instant`, or later")
	cmd.Flags().StringVar(&order, "sort", "submitted", "the `order`: submitted, took, name, kind or state")
	return cmd
}

// parseList reads what a list is to show.
func parseList(a *app, ask *gramv1.ListRequest, state, since, order string) error {
	want, err := parseState(state)
	if err != nil {
		return err
	}
	if want != gramv1.JobState_JOB_STATE_UNSPECIFIED {
		ask.Filter.States = []gramv1.JobState{want}
	}
	if since != "" {
		at, err := a.instant("--since", since)
		if err != nil {
			return err
		}
		ask.Filter.SinceUnixMs = at.UnixMilli()
	}
	by, ok := gramv1.JobOrder_value["JOB_ORDER_"+strings.ToUpper(order)]
	if !ok || by == 0 {
		return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--sort %q is no order", order),
			Hint: "It is submitted, took, name, kind or state."}
	}
	ask.Order = gramv1.JobOrder(by)
	switch ask.Order {
	case gramv1.JobOrder_JOB_ORDER_NAME, gramv1.JobOrder_JOB_ORDER_KIND, gramv1.JobOrder_JOB_ORDER_STATE:
		ask.Ascending = true
	}
	return nil
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
