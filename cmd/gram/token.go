package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func tokenCommand(a *app) *cobra.Command {
	return command.Group("token", "Make, list and revoke tokens",
		`  gram token create --scope submit --name ci --ttl 720h --out ci.token
  gram token list
  gram token revoke 3f9a0c51e2d4b687`, tokenCreateCommand(a), tokenListCommand(a), tokenRevokeCommand(a))
}

// tokenFlags describe a token to be made.
type tokenFlags struct {
	scope, name, out string
	ttl              time.Duration
}

func tokenCreateCommand(a *app) *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "create --scope SCOPE",
		Short: "Make a token",
		Example: `  gram token create --scope submit --name ci --ttl 720h --out ci.token
  gram token create --scope worker --out worker-2.token
  GRAM_TOKEN=$(gram token create --scope read) gram list`,
		Long: `The token is drawn here; the cluster is told its hash and never sees the secret
before it is used. It is shown once: on stdout, or in a new file of mode 0600
with --out. Nobody can show it again.
SCOPE: read looks; submit also submits, cancels, schedules and names models;
admin also makes tokens, backups and members, retires jobs and sweeps; worker
takes tasks, and nothing else.
To exchange a token, make another, put it in place of the old one, and revoke
that: both are valid meanwhile, and workers read their file again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			return createToken(cmd.Context(), a, c, f)
		},
	}
	command.RequireFlag(cmd, &f.scope, "scope", "`scope`: read, submit, admin or worker")
	cmd.Flags().StringVar(&f.name, "name", "", "`name`, for people")
	cmd.Flags().DurationVar(&f.ttl, "ttl", 0, "`time` it is valid, by the leader's clock, such as 720h; 0 means without end")
	cmd.Flags().StringVar(&f.out, "out", "", "new `file` for the token, instead of stdout")
	return cmd
}

func createToken(ctx context.Context, a *app, c *client.Cluster, f tokenFlags) error {
	if f.ttl < 0 || f.ttl != 0 && f.ttl < time.Millisecond {
		return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--ttl %s is no time to live", f.ttl)}
	}
	token := gate.NewToken()
	if f.out != "" { // before the cluster knows it: a token that cannot be kept must not be made
		if err := files.WriteNew(f.out, token.Reveal()+"\n"); err != nil {
			return err
		}
	}
	res, err := c.Tokens.CreateToken(ctx, connect.NewRequest(&gramv1.CreateTokenRequest{
		Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: f.scope, Name: f.name, TtlMs: f.ttl.Milliseconds(),
	}))
	if err != nil {
		if f.out != "" {
			return errors.Join(c.Explain(err), os.Remove(f.out))
		}
		return c.Explain(err)
	}
	view := show.OfToken(res.Msg.GetToken())
	if f.out == "" {
		view.Token = token.Reveal()
	}
	return printToken(a, view, f.out)
}

func printToken(a *app, view show.Token, out string) error {
	switch {
	case a.flags.output == "json":
		return a.printJSON(struct {
			SchemaVersion int `json:"schema_version"`
			show.Token
		}{show.SchemaVersion, view})
	case out == "":
		fmt.Fprintln(a.out, view.Token)
		a.note("gram: token %s of scope %s; it is not shown again", view.ID, view.Scope)
	default:
		a.note("gram: token %s of scope %s in %s", view.ID, view.Scope, out)
	}
	return nil
}

func tokenListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Example: `  gram token list
  gram token list -o json`,
		Long: `admin.token and worker.token are those that the first coordinator made when it
first started, named after their files.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			res, err := c.Tokens.ListTokens(cmd.Context(), connect.NewRequest(&gramv1.ListTokensRequest{}))
			if err != nil {
				return c.Explain(err)
			}
			views := []show.Token{}
			for _, t := range res.Msg.GetTokens() {
				views = append(views, show.OfToken(t))
			}
			return printTokens(a, views)
		},
	}
}

func printTokens(a *app, views []show.Token) error {
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			Tokens        []show.Token `json:"tokens"`
		}{show.SchemaVersion, views})
	}
	var table terminal.Table
	table.Row("TOKEN", "NAME", "SCOPE", "CREATED", "EXPIRES")
	for _, v := range views {
		expires := v.Expires
		switch {
		case v.Expired:
			expires = "expired"
		case expires == "":
			expires = "never"
		}
		table.Row(v.ID, v.Name, v.Scope, v.Created, expires)
	}
	table.Write(a.out)
	return nil
}

func tokenRevokeCommand(a *app) *cobra.Command {
	return command.AddYes(&cobra.Command{
		Use:     "revoke ID...",
		Short:   "End tokens, and the calls that run with them",
		Example: "  gram token revoke 3f9a0c51e2d4b687",
		Long: `An ID is what gram token list shows. The token is of no use once this command
has returned. Refused for one of scope admin where no other is valid as long:
nobody could make tokens any more.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd, fmt.Sprintf("%d token(s) and the calls that run with them end", len(ids)),
				false); err != nil {
				return err
			}
			for _, id := range ids {
				if token, err := gate.ParseToken(id); err == nil {
					id = token.ID
				}
				if err := revokeToken(cmd.Context(), c, id); err != nil {
					return err
				}
				a.note("gram: token %s is revoked", id)
			}
			return nil
		},
	})
}

func revokeToken(ctx context.Context, c *client.Cluster, id string) error {
	_, err := c.Tokens.RevokeToken(ctx, connect.NewRequest(&gramv1.RevokeTokenRequest{Id: id}))
	if err == nil {
		return nil
	}
	f := exit.OfCall(c.Addr, err)
	switch f.Code {
	case exit.NotFound:
		f.Hint = "`gram token list` shows the tokens that are there."
	case exit.Failed:
		f.Code = exit.Conflict
	}
	return f
}
