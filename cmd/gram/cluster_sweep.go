package main

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func sweepCommand(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Retire jobs whose time is over, and delete what nobody needs",
		Example: `  gram cluster sweep --dry-run
  gram cluster sweep
  gram cluster sweep --dry-run -o json`,
		Long: `Does now what the leader does by itself every --sweep-every: jobs whose run.keep
(else the coordinators' --keep-jobs) has passed are retired unless somebody
names them; objects that nobody can refer to any more are deleted when
--sweep-grace has passed since then. It looks in every job's folder, and counts
the objects of jobs that this cluster does not know; those it never deletes.
With --dry-run it says what it would do; a job that is not retired yet counts
with what is garbage of it by now. It needs an admin's token.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return sweep(cmd.Context(), a, c, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "delete and decide nothing; say what would be")
	return cmd
}

func sweep(ctx context.Context, a *app, c *client.Cluster, dry bool) error {
	res, err := c.Upkeep.Sweep(ctx, connect.NewRequest(&gramv1.SweepRequest{DryRun: dry}))
	if err != nil {
		return c.Explain(err)
	}
	v := show.OfSweep(res.Msg, dry)
	if a.flags.output == "json" {
		return a.printJSON(v)
	}
	did := [2]string{"retired", "deleted"}
	if dry {
		did = [2]string{"to retire", "to delete"}
	}
	var table terminal.Table
	table.Row(did[0], protocol.Counted(len(v.Retired), "job"))
	for _, id := range v.Retired {
		table.Row("", id)
	}
	for _, h := range v.Held {
		table.Row("stays", fmt.Sprintf("%s, named by %s", h.Job, terminal.Clean(h.By)))
	}
	table.Row(did[1], protocol.Counted(v.Objects, "object")+", "+show.Bytes(v.Bytes))
	for _, j := range v.Jobs {
		table.Row("", fmt.Sprintf("%s: %s, %s", j.Job, protocol.Counted(j.Objects, "object"), show.Bytes(j.Bytes)))
	}
	if v.Uploads > 0 {
		table.Row("given up", protocol.Counted(v.Uploads, "unfinished upload"))
	}
	if v.UnknownObjects > 0 {
		table.Row("not known", fmt.Sprintf("%s, %s, of jobs this cluster does not know",
			protocol.Counted(v.UnknownObjects, "object"), show.Bytes(v.UnknownBytes)))
		for _, id := range v.UnknownJobs {
			table.Row("", terminal.Clean(id))
		}
	}
	table.Write(a.out)
	return nil
}
