package main

import (
	"context"
	"strconv"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) clusterCommand() *cobra.Command {
	return group("cluster", "Look at the coordinators, and change who belongs to them", `  gram cluster status
  gram cluster members
  gram cluster join c1.example:7480 --data /var/lib/gram
  gram cluster remove c2
  gram cluster rebuild c1.example:7480 --data /var/lib/gram
  gram cluster backup gram.backup
  gram cluster restore gram.backup --data new --store s3://gram-jobs
  gram cluster sweep --dry-run
  gram cluster clock accept`, a.clusterStatusCommand(), a.membersCommand(), a.joinCommand(), a.removeCommand(),
		a.rebuildCommand(), a.backupCommand(), a.restoreCommand(), a.sweepCommand(), a.clockCommand())
}

func (a *app) clusterStatusCommand() *cobra.Command {
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
			return a.clusterStatus(cmd.Context(), c)
		},
	}
}

type memberView struct {
	ID          string `json:"id"`
	RaftAddress string `json:"raft_address"`
	Role        string `json:"role"` // leader, voter or non-voter
	Healthy     bool   `json:"healthy"`
	Behind      uint64 `json:"behind"`
	Version     string `json:"version"`

	ClockTrusted  bool  `json:"clock_trusted"`
	ClockOffsetMs int64 `json:"clock_offset_ms"`
}

func (a *app) membersCommand() *cobra.Command {
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
			return a.members(cmd.Context(), c)
		},
	}
}

func (a *app) members(ctx context.Context, c *cluster) error {
	res, err := c.services.Members(ctx, connect.NewRequest(&gramv1.MembersRequest{}))
	if err != nil {
		return c.explain(err)
	}
	views := []memberView{}
	for _, m := range res.Msg.GetMembers() {
		role := "non-voter"
		switch {
		case m.GetLeader():
			role = "leader"
		case m.GetVoter():
			role = "voter"
		}
		views = append(views, memberView{m.GetId(), m.GetRaftAddress(), role, m.GetHealthy(), m.GetBehind(), m.GetVersion(), m.GetClock().GetTrusted(), m.GetClock().GetOffsetMs()})
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			ClusterID     string       `json:"cluster_id"`
			Members       []memberView `json:"members"`
		}{schemaVersion, res.Msg.GetClusterId(), views})
	}
	var table terminal.Table
	table.Row("MEMBER", "RAFT", "ROLE", "HEALTH", "BEHIND", "CLOCK", "VERSION")
	for i, v := range views {
		health := "silent"
		if v.Healthy {
			health = "healthy"
		}
		table.Row(v.ID, v.RaftAddress, v.Role, health, strconv.FormatUint(v.Behind, 10), memberClock(res.Msg.GetMembers()[i].GetClock()), v.Version)
	}
	table.Write(a.out)
	return nil
}

func (a *app) removeCommand() *cobra.Command {
	return addYes(&cobra.Command{
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
			if _, err := c.services.Remove(cmd.Context(), connect.NewRequest(&gramv1.RemoveRequest{Id: args[0]})); err != nil {
				if connect.CodeOf(err) == connect.CodeNotFound {
					return &failure{code: exitNotFound, what: "no member " + args[0], hint: "`gram cluster members` lists them.", cause: err}
				}
				return c.explain(err)
			}
			a.note("gram: %s is no member any more", args[0])
			return nil
		},
	})
}
