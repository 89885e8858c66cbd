package main

import (
	"context"
	"strconv"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func clusterCommand(a *app) *cobra.Command {
	return command.Group("cluster", "Look at the coordinators, and change who belongs to them", `  gram cluster status
  gram cluster members
  gram cluster join c1.example:7480 --data /var/lib/gram
  gram cluster remove c2
  gram cluster rebuild c1.example:7480 --data /var/lib/gram
  gram cluster backup gram.backup
  gram cluster restore gram.backup --data new --store s3://gram-jobs
  gram cluster sweep --dry-run
  gram cluster public-key > cluster.pub
  gram cluster clock accept`, clusterStatusCommand(a), membersCommand(a), joinCommand(a), removeCommand(a),
		rebuildCommand(a), backupCommand(a), restoreCommand(a), sweepCommand(a), publicKeyCommand(a),
		clockCommand(a))
}

func clusterStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show the cluster, as `gram status` does",
		Example: "  gram cluster status -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return clusterStatus(cmd.Context(), a, c)
		},
	}
}

func membersCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "members",
		Short: "List the coordinators",
		Example: `  gram cluster members
  gram cluster members -o json`,
		Long: `A new member is a non-voter until it has caught up. BEHIND is how many entries
of the log it had not applied when it last answered the leader. CLOCK is how far
its wall clock is ahead of the others', or of its own time since boot.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return members(cmd.Context(), a, c)
		},
	}
}

func members(ctx context.Context, a *app, c *client.Cluster) error {
	res, err := c.Services.Members(ctx, connect.NewRequest(&gramv1.MembersRequest{}))
	if err != nil {
		return c.Explain(err)
	}
	views := []show.Member{}
	for _, m := range res.Msg.GetMembers() {
		views = append(views, show.OfMember(m))
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int           `json:"schema_version"`
			ClusterID     string        `json:"cluster_id"`
			Members       []show.Member `json:"members"`
		}{show.SchemaVersion, res.Msg.GetClusterId(), views})
	}
	var table terminal.Table
	table.Row("MEMBER", "RAFT", "ROLE", "HEALTH", "BEHIND", "CLOCK", "VERSION")
	for i, v := range views {
		health := "silent"
		if v.Healthy {
			health = "healthy"
		}
		table.Row(v.ID, v.RaftAddress, v.Role, health, strconv.FormatUint(v.Behind, 10),
			show.MemberClock(res.Msg.GetMembers()[i].GetClock()), v.Version)
	}
	table.Write(a.out)
	return nil
}

func removeCommand(a *app) *cobra.Command {
	return command.AddYes(&cobra.Command{
		Use:   "remove ID",
		Short: "Take a coordinator out of the cluster, for good",
		Example: `  gram cluster members
  gram cluster remove c2`,
		Long: `A member that was removed ends, and does not come back: its machine may join
again with an empty data directory. Refused where most of the members left
would not answer, and for the leader: stop that one first.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd, args[0]+" does not come back into the cluster", false); err != nil {
				return err
			}
			if _, err := c.Services.Remove(cmd.Context(),
				connect.NewRequest(&gramv1.RemoveRequest{Id: args[0]})); err != nil {
				if connect.CodeOf(err) == connect.CodeNotFound {
					return &exit.Failure{Code: exit.NotFound, What: "no member " + args[0],
						Hint: "`gram cluster members` lists them.", Cause: err}
				}
				return c.Explain(err)
			}
			a.note("gram: %s is no member any more", args[0])
			return nil
		},
	})
}
