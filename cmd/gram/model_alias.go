package main

import (
	"context"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// noJob is what --expect takes for an alias that must be new.
const noJob = "none"

func modelAliasCommand(a *app) *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use:   "alias NAME JOB",
		Short: "Let a name mean the model of a job: @NAME",
		Example: `  gram model alias prod digits-k3f9p2
  gram model alias prod news@latest --expect digits-k3f9p2
  gram model classify --model @prod 'a large cat'
  gram model alias list
  gram model alias rm prod`,
		Long: `JOB has succeeded: an id, SCHEDULE@latest, or another @NAME. The name goes on
meaning that job until somebody moves it, and a job that has a name is not
retired. Wherever a verb reads a job, and as spec.model, @NAME stands for it; a
job that was submitted keeps the model that the name meant then. With --expect
the name moves only if it means that job now ("none": nothing yet).`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			req := &gramv1.SetAliasRequest{Name: strings.TrimPrefix(args[0], "@"), Job: args[1]}
			req.Check, req.ExpectJob = expectation(expect)
			return setAlias(cmd.Context(), a, c, req)
		},
	}
	cmd.Flags().StringVar(&expect, "expect", "", "move the name only if it means this `job` now; none: nothing")
	cmd.AddCommand(aliasListCommand(a), aliasRemoveCommand(a))
	return cmd
}

func expectation(text string) (check bool, job string) {
	if text == noJob {
		return true, ""
	}
	return text != "", text
}

func setAlias(ctx context.Context, a *app, c *client.Cluster, req *gramv1.SetAliasRequest) error {
	var res *gramv1.SetAliasResponse
	err := decide(ctx, a, c, func(ctx context.Context) error {
		answer, err := c.Models.SetAlias(ctx, connect.NewRequest(req))
		if err == nil {
			res = answer.Msg
		}
		return err
	})
	if err != nil {
		return aliasFailure(err)
	}
	view := show.OfAlias(res.GetAlias())
	view.Previous = res.GetPreviousJob()
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int `json:"schema_version"`
			show.Alias
		}{show.SchemaVersion, view})
	}
	if view.Previous != "" && view.Previous != view.Job {
		a.note("gram: @%s means %s now; it meant %s", view.Name, view.Job, view.Previous)
		return nil
	}
	a.note("gram: @%s means %s", view.Name, view.Job)
	return nil
}

// aliasFailure gives what is refused a hint that fits.
func aliasFailure(err error) error {
	f := exit.Of(err)
	switch f.Code {
	case exit.Conflict:
		f.Hint = "`gram model alias list` shows what names mean."
	case exit.NotFound:
		f.Hint = "`gram model list` and `gram model alias list` show what is there."
	}
	return f
}

func aliasListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the names of models",
		Example: "  gram model alias list\n  gram model alias list -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			res, err := c.Models.ListAliases(cmd.Context(), connect.NewRequest(&gramv1.ListAliasesRequest{}))
			if err != nil {
				return c.Explain(err)
			}
			views := []show.Alias{}
			for _, alias := range res.Msg.GetAliases() {
				views = append(views, show.OfAlias(alias))
			}
			if a.flags.output == "json" {
				return a.printJSON(struct {
					SchemaVersion int          `json:"schema_version"`
					Aliases       []show.Alias `json:"aliases"`
				}{show.SchemaVersion, views})
			}
			var table terminal.Table
			table.Row("ALIAS", "JOB", "SET")
			for i, v := range views {
				set := time.UnixMilli(res.Msg.GetAliases()[i].GetSetUnixMs())
				table.Row("@"+v.Name, v.Job, terminal.Elapsed(a.now().Sub(set))+" ago")
			}
			table.Write(a.out)
			return nil
		},
	}
}

func aliasRemoveCommand(a *app) *cobra.Command {
	var expect string
	cmd := &cobra.Command{
		Use:     "rm NAME",
		Short:   "Forget a name; the job and its model stay",
		Example: "  gram model alias rm prod\n  gram model alias rm prod --expect digits-k3f9p2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			req := &gramv1.RemoveAliasRequest{Name: strings.TrimPrefix(args[0], "@")}
			req.Check, req.ExpectJob = expectation(expect)
			res, err := c.Models.RemoveAlias(cmd.Context(), connect.NewRequest(req))
			if err != nil {
				return aliasFailure(c.Explain(err))
			}
			a.note("gram: @%s means nothing any more; job %s stays", req.Name, res.Msg.GetAlias().GetJobId())
			return nil
		},
	}
	cmd.Flags().StringVar(&expect, "expect", "", "only if it means this `job` now")
	return cmd
}
