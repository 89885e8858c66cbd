package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func rebuildCommand(a *app) *cobra.Command {
	var data, nodeID string
	cmd := &cobra.Command{
		Use:   "rebuild ADDRESS[,ADDRESS...] --data DIR",
		Short: "Make a coordinator with a damaged disk a new member of its cluster",
		Example: `  gram cluster rebuild c1.example:7480 --data /var/lib/gram
  gram cluster rebuild 127.0.0.1:7480 --data c2 --node-id c2b \
      --token-file c1/admin.token`,
		Long: `For a member that does not start because its log or snapshots are damaged or
lost (exit code 9), or whose state differs. ADDRESSes are of the API of other
members. It takes the old member out of the cluster, puts what is damaged into
DIR/damaged-TIME, and prepares DIR to join under another id; certificates,
tokens and objects stay. Then ` + "`gram coordinator --data DIR`" + `, without the old
--node-id, joins as a non-voter, gets everything from the others, and then its
vote. Under its old id it may not come back: it has forgotten what it voted
for and acknowledged, and could help to elect a leader that lacks entries.
Refused where most of the members left would not answer. Run again after a
failure, it goes on.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			addresses, err := local.APIAddresses("address", strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			return rebuild(cmd.Context(), a, data, nodeID, addresses)
		},
	}
	command.RequireFlag(cmd, &data, "data", "`directory` of the damaged coordinator")
	cmd.Flags().StringVar(&nodeID, "node-id", "", "`name` of the new member, for good (default random)")
	return cmd
}

func rebuild(ctx context.Context, a *app, data, nodeID string, addresses []string) error {
	old, err := node.IDIn(data)
	if err != nil {
		return err
	}
	if nodeID == old {
		return &exit.Failure{Code: exit.Usage, What: "--node-id " + old + " is the damaged member's own",
			Hint: "Choose another id, or none, and one is drawn."}
	}
	token, err := joinToken(a)
	if err != nil {
		return err
	}
	if err := takeOut(ctx, a, old, filepath.Join(data, "pki", coordinator.CAFile), addresses); err != nil {
		return err
	}
	aside, err := node.SetAside(data, a.now())
	if err != nil {
		return err
	}
	if err := local.WritePrepared(data, nodeID, addresses, token); err != nil {
		return err
	}
	a.note("gram: %s is no member any more; its files are in %s\n  `gram coordinator --data %s` joins the cluster "+
		"as a new member; leave --node-id %s out",
		old, aside, shellQuote(data), old)
	return nil
}

// takeOut removes a member from the cluster, unless it is out already.
func takeOut(ctx context.Context, a *app, id, authority string, addresses []string) error {
	a.flags.config.Addr = clientconfig.Value{Text: "https://" + strings.Join(addresses, ",https://"),
		Origin: "the command line"}
	a.flags.config.CACert = clientconfig.Value{Text: authority, Origin: "the data directory"}
	c, err := a.connect()
	if err != nil {
		return err
	}
	res, err := c.Services.Members(ctx, connect.NewRequest(&gramv1.MembersRequest{}))
	if err != nil {
		return c.Explain(err)
	}
	if !slices.ContainsFunc(res.Msg.GetMembers(), func(m *gramv1.Member) bool { return m.GetId() == id }) {
		return nil
	}
	if _, err := c.Services.Remove(ctx, connect.NewRequest(&gramv1.RemoveRequest{Id: id})); err != nil {
		return c.Explain(err)
	}
	return nil
}
