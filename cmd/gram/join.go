package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// joinFile in a data directory says which cluster the coordinator that starts there joins. It
// holds an admin's token, and goes once the coordinator has joined.
const joinFile = "join.json"

// prepared is what joinFile holds.
type prepared struct {
	Addresses []string `json:"addresses"` // host:port of the API
	Token     string   `json:"token"`
}

// joinFlags describe a member to be.
type joinFlags struct {
	data, nodeID, authority string
	names                   []string
}

func (a *app) joinCommand() *cobra.Command {
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
			addresses, err := apiAddresses("address", strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			return a.prepareJoin(cmd.Context(), f, addresses)
		},
	}
	requireFlag(cmd, &f.data, "data", "`directory` of the new coordinator")
	set := cmd.Flags()
	set.StringVar(&f.nodeID, "node-id", "", "`name` of the new member, for good (default random)")
	set.StringVar(&f.authority, "ca", "", "`directory` with the cluster's authority and its key, to make a certificate with")
	set.StringSliceVar(&f.names, "tls-name", nil, "with --ca: a DNS `name` or IP address that the new member is reached by; may be repeated")
	return cmd
}

func (a *app) prepareJoin(ctx context.Context, f joinFlags, addresses []string) error {
	if f.authority == "" && len(f.names) > 0 {
		return &failure{code: exitUsage, what: "--tls-name is for the certificate that --ca makes"}
	}
	if err := notBegun(f.data); err != nil {
		return err
	}
	token, err := a.joinToken()
	if err != nil {
		return err
	}
	certificates := filepath.Join(f.data, "pki")
	if f.authority != "" {
		if err := pki.Issue(f.authority, certificates, append(f.names, "localhost", "127.0.0.1", "::1"), time.Now()); err != nil {
			return pkiFailure(err)
		}
	} else if _, err := os.Stat(filepath.Join(certificates, coordinator.CAFile)); err != nil {
		return &failure{code: exitUsage, what: "no certificate in " + certificates, cause: err,
			hint: "`gram pki issue --ca PKI --out " + certificates + " NAME...` makes one, and so does --ca PKI here."}
	}
	if err := a.checkFree(ctx, addresses, filepath.Join(certificates, coordinator.CAFile), f.nodeID); err != nil {
		return err
	}
	if err := writePrepared(f.data, f.nodeID, addresses, token); err != nil {
		return err
	}
	a.note("gram: %s is prepared; `gram coordinator --data %s` joins the cluster at %s", f.data, shellQuote(f.data), strings.Join(addresses, ","))
	return nil
}

// writePrepared makes the data directory one of a member to be.
func writePrepared(data, nodeID string, addresses []string, token gate.Token) error {
	if nodeID != "" {
		if err := pki.WriteFile(filepath.Join(data, node.NodeIDFile), []byte(nodeID+"\n"), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", node.NodeIDFile, err)
		}
	}
	text, err := json.Marshal(prepared{addresses, token.Reveal()})
	if err != nil {
		return err
	}
	if err := pki.WriteFile(filepath.Join(data, joinFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", joinFile, err)
	}
	return nil
}

// checkFree asks the cluster, by the authority the new member will trust, whether its id is free.
func (a *app) checkFree(ctx context.Context, addresses []string, authority, id string) error {
	a.flags.config.Addr = clientconfig.Value{Text: "https://" + strings.Join(addresses, ",https://"), Origin: "the command line"}
	a.flags.config.CACert = clientconfig.Value{Text: authority, Origin: "the data directory"}
	c, err := a.connect()
	if err != nil {
		return err
	}
	res, err := c.services.Members(ctx, connect.NewRequest(&gramv1.MembersRequest{}))
	if err != nil {
		return c.explain(err)
	}
	for _, m := range res.Msg.GetMembers() {
		if m.GetId() == id {
			return &failure{code: exitConflict, what: "the cluster has a member " + id,
				hint: "If it is lost for good, `gram cluster remove " + id + "`, and join under another id."}
		}
	}
	return nil
}

// notBegun refuses a data directory in which a member has begun.
func notBegun(data string) error {
	_, err := os.Stat(filepath.Join(data, node.ClusterIDFile))
	switch {
	case err == nil:
		return &failure{code: exitConflict, what: "a member of a cluster lives in " + data, hint: "Name an empty directory with --data."}
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("look into the data directory: %w", err)
	}
	return nil
}

// apiAddresses checks the host:port of coordinators; what names them in the error.
func apiAddresses(what string, addresses []string) ([]string, error) {
	var hosts []string
	for _, address := range addresses {
		host := strings.TrimPrefix(strings.TrimSpace(address), "https://")
		if _, _, err := net.SplitHostPort(host); err != nil {
			return nil, &failure{code: exitUsage, what: fmt.Sprintf("%s %q", what, address), why: err, hint: "Write host:port of a member's API."}
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// ownAddresses refuses what --listen, --raft and --advertise cannot mean.
func ownAddresses(cfg *coordinator.Config) error {
	for _, f := range []struct{ flag, address string }{
		{"--listen", cfg.ListenAddr}, {"--raft", cfg.RaftAddr}, {"--advertise", cfg.AdvertiseAddr},
	} {
		if f.address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(f.address); err != nil {
			return &failure{code: exitUsage, what: fmt.Sprintf("%s %q", f.flag, f.address), why: err, hint: "Write host:port; 0.0.0.0 is every address of this machine."}
		}
	}
	return nil
}

// joinToken is the configured token, as one that may be an admin's.
func (a *app) joinToken() (gate.Token, error) {
	secret, warning, err := a.flags.config.Secret()
	if err != nil {
		return gate.Token{}, &failure{code: exitDenied, what: err.Error()}
	}
	if warning != "" {
		a.note("gram: warning: %s", warning)
	}
	token, err := gate.ParseToken(secret)
	if err != nil {
		return token, &failure{code: exitDenied, what: "joining needs an admin's token", why: err, hint: "Name its file with --token-file or GRAM_TOKEN_FILE."}
	}
	return token, nil
}

// preparedJoin takes up what `gram cluster join` left in the data directory.
func (a *app) preparedJoin(cfg *coordinator.Config) error {
	file := filepath.Join(cfg.DataDir, joinFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", joinFile, err)
	}
	if cfg.Restore != "" {
		return &failure{code: exitUsage, what: "--restore, and " + file + " says to join a cluster", hint: "Remove that file, or leave --restore out."}
	}
	if notBegun(cfg.DataDir) != nil {
		return nil // it joined; the file goes when it serves
	}
	var p prepared
	if err := protocol.StrictDecode(text, &p); err != nil {
		return &failure{code: exitUsage, what: file, why: err, hint: "`gram cluster join` writes it anew."}
	}
	if cfg.Join, err = apiAddresses(file, p.Addresses); err != nil {
		return err
	}
	if cfg.JoinToken, err = gate.ParseToken(p.Token); err != nil {
		return &failure{code: exitDenied, what: file, why: err, hint: "`gram cluster join` writes it anew."}
	}
	return nil
}

// forgetJoin removes the token that joining took.
func forgetJoin(data string) error {
	if err := os.Remove(filepath.Join(data, joinFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s, which is used up: %w", joinFile, err)
	}
	return nil
}
