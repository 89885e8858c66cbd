package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// joinFlags describe a member to be.
type joinFlags struct {
	data, nodeID, authority string
	names                   []string
}

func joinCommand(a *app) *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{
		Use:   "join ADDRESS[,ADDRESS...] --data DIR",
		Short: "Prepare a data directory for a new coordinator of the cluster",
		Example: `  gram cluster join c1.example:7480 --data /var/lib/gram
  gram cluster join 127.0.0.1:7480 --data c2 --ca c1/pki \
      --token-file c1/admin.token`,
		Long: `ADDRESSes are of the API of members. With --ca it makes the certificate, for
localhost and each --tls-name; else DIR/pki holds one already, from
` + "`gram pki issue`" + `. It asks the cluster who belongs to it, so that a wrong
address, authority, token or id shows here and not at the start. Then
` + "`gram coordinator --data DIR`" + ` joins, without --join; the token is kept in
DIR/join.json until it has.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			addresses, err := local.APIAddresses("address", strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			return prepareJoin(cmd.Context(), a, f, addresses)
		},
	}
	command.RequireFlag(cmd, &f.data, "data", "`directory` of the new coordinator")
	set := cmd.Flags()
	set.StringVar(&f.nodeID, "node-id", "", "`name` of the new member, for good (default random)")
	set.StringVar(&f.authority, "ca", "",
		"`directory` with the cluster's authority and its key, to make a certificate with")
	set.StringSliceVar(&f.names, "tls-name", nil,
		"with --ca: a DNS `name` or IP address that the new member is reached by; may be repeated")
	return cmd
}

func prepareJoin(ctx context.Context, a *app, f joinFlags, addresses []string) error {
	if f.authority == "" && len(f.names) > 0 {
		return &exit.Failure{Code: exit.Usage, What: "--tls-name is for the certificate that --ca makes"}
	}
	if err := local.NotBegun(f.data); err != nil {
		return err
	}
	token, err := joinToken(a)
	if err != nil {
		return err
	}
	certificates := filepath.Join(f.data, "pki")
	if f.authority != "" {
		if err := pki.Issue(f.authority, certificates, append(f.names, "localhost", "127.0.0.1", "::1"),
			time.Now()); err != nil {
			return pkiFailure(err)
		}
	} else if _, err := os.Stat(filepath.Join(certificates, coordinator.CAFile)); err != nil {
		return &exit.Failure{Code: exit.Usage, What: "no certificate in " + certificates, Cause: err,
			Hint: "`gram pki issue --ca PKI --out " + certificates + " NAME...` makes one, and so does --ca PKI here."}
	}
	if err := checkFree(ctx, a, addresses, filepath.Join(certificates, coordinator.CAFile), f.nodeID); err != nil {
		return err
	}
	if err := local.WritePrepared(f.data, f.nodeID, addresses, token); err != nil {
		return err
	}
	a.note("gram: %s is prepared; `gram coordinator --data %s` joins the cluster at %s", f.data, shellQuote(f.data),
		strings.Join(addresses, ","))
	return nil
}

// checkFree asks the cluster, by the authority the new member will trust, whether its id is free.
func checkFree(ctx context.Context, a *app, addresses []string, authority, id string) error {
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
	for _, m := range res.Msg.GetMembers() {
		if m.GetId() == id {
			return &exit.Failure{Code: exit.Conflict, What: "the cluster has a member " + id,
				Hint: "If it is lost for good, `gram cluster remove " + id + "`, and join under another id."}
		}
	}
	return nil
}

// joinToken is the configured token, as one that may be an admin's.
func joinToken(a *app) (gate.Token, error) {
	secret, warning, err := a.flags.config.Secret()
	if err != nil {
		return gate.Token{}, &exit.Failure{Code: exit.Denied, What: err.Error()}
	}
	if warning != "" {
		a.note("gram: warning: %s", warning)
	}
	token, err := gate.ParseToken(secret)
	if err != nil {
		return token, &exit.Failure{Code: exit.Denied, What: "joining needs an admin's token", Why: err,
			Hint: "Name its file with --token-file or GRAM_TOKEN_FILE."}
	}
	return token, nil
}
