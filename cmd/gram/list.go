package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) listCommand() *cobra.Command {
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
				return &failure{code: exitUsage, what: "--limit is at least 1"}
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			jobs, more, err := c.list(cmd.Context(), limit, want)
			if err != nil {
				return err
			}
			if more {
				a.note("gram: there are more; --limit %d shows twice as many", 2*limit)
			}
			return a.printJobs(jobs)
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
		name := strings.ToLower(stateName(gramv1.JobState(i)))
		if name == strings.ToLower(word) {
			return gramv1.JobState(i), nil
		}
		known = append(known, name)
	}
	f := &failure{code: exitUsage, what: fmt.Sprintf("unknown state %q; known: %s", word, strings.Join(known, ", "))}
	if near := protocol.Nearest(word, known); near != "" {
		f.hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return 0, f
}

// list turns the pages until there are limit jobs of the state; more tells that there may be others.
func (c *cluster) list(ctx context.Context, limit int, want gramv1.JobState) (jobs []*gramv1.Job, more bool, err error) {
	req := &gramv1.ListRequest{Limit: uint32(min(limit, 1000))}
	if want != gramv1.JobState_JOB_STATE_UNSPECIFIED {
		req.Limit = 1000
	}
	for {
		res, err := c.jobs.List(ctx, connect.NewRequest(req))
		if err != nil {
			return nil, false, c.explain(err)
		}
		for _, job := range res.Msg.GetJobs() {
			if want != gramv1.JobState_JOB_STATE_UNSPECIFIED && job.GetState() != want {
				continue
			}
			if len(jobs) == limit {
				return jobs, true, nil
			}
			jobs = append(jobs, job)
		}
		req.PageToken = res.Msg.GetNextPageToken()
		if req.PageToken == "" || len(jobs) == limit {
			return jobs, req.PageToken != "", nil
		}
	}
}

// eachJob turns the pages of all jobs, newest first, until yield has enough.
func (c *cluster) eachJob(ctx context.Context, yield func(*gramv1.Job) bool) error {
	req := &gramv1.ListRequest{Limit: 1000}
	for {
		res, err := c.jobs.List(ctx, connect.NewRequest(req))
		if err != nil {
			return c.explain(err)
		}
		for _, job := range res.Msg.GetJobs() {
			if !yield(job) {
				return nil
			}
		}
		if req.PageToken = res.Msg.GetNextPageToken(); req.PageToken == "" {
			return nil
		}
	}
}

func (a *app) printJobs(jobs []*gramv1.Job) error {
	if a.flags.output == "json" {
		return a.printEnds(jobs)
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
		if p := job.GetProgress(); p.GetLeaves() > 0 && !ended(job.GetState()) {
			done = fmt.Sprintf("%d/%d", p.GetLeavesDone(), p.GetLeaves())
		}
		table.Row(job.GetId(), stateName(job.GetState()), job.GetKind(), done,
			terminal.Elapsed(a.now().Sub(time.UnixMilli(job.GetSubmittedUnixMs())))+" ago")
	}
	table.Write(a.out)
	return nil
}
