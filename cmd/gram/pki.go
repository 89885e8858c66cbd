package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/spf13/cobra"
)

func pkiCommand(a *app) *cobra.Command {
	return command.Group("pki", "Make certificates for coordinators and workers", `  gram pki init --ca ./pki
  gram pki issue --ca ./pki --out ./c2/pki c2.example 10.0.0.6
  gram pki issue --ca ./pki --role worker --out ./w1`, pkiInitCommand(a), pkiIssueCommand(a))
}

func pkiInitCommand(a *app) *cobra.Command {
	var authority string
	cmd := &cobra.Command{
		Use:     "init --ca DIR",
		Short:   "Make a cluster's authority",
		Example: "  gram pki init --ca ./pki",
		Long: `DIR/ca.pem is for everyone who connects; DIR/ca-key.pem signs certificates and
is for nobody else. A coordinator that starts alone makes an authority of its
own, in pki below its data directory: then there is nothing to init.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := pki.Init(authority, time.Now()); err != nil {
				return pkiFailure(err)
			}
			a.note("gram: authority in %s; keep ca-key.pem to yourself", authority)
			return nil
		},
	}
	command.RequireFlag(cmd, &authority, "ca", "`directory` of the authority")
	return cmd
}

func pkiIssueCommand(a *app) *cobra.Command {
	var authority, out, role string
	cmd := &cobra.Command{
		Use:   "issue --ca DIR --out DIR [--role ROLE] [NAME...]",
		Short: "Make a coordinator's or a worker's certificate",
		Example: `  gram pki issue --ca ./pki --out ./c2/pki c2.example 10.0.0.6
  gram pki issue --ca ./pki --role worker --out ./w1 rack3`,
		Long: `A coordinator's NAMEs are the DNS names and IP addresses that clients, workers
and the other coordinators reach it by; localhost, 127.0.0.1 and ::1 are added.
The directory becomes pki below the coordinator's data directory.
A worker's NAME is for people, or left out; the directory gets worker.pem,
worker-key.pem and ca.pem, for gram worker --cert --key --cacert. A worker's
certificate opens a worker's calls and no others, whatever token comes with it.
A certificate lasts a year. Issue it again into the same directory before that:
a process that runs with it takes it up without a restart.`,
		RunE: func(_ *cobra.Command, names []string) error {
			if err := issue(role, authority, out, names); err != nil {
				return err
			}
			a.note("gram: certificate in %s", out)
			return nil
		},
	}
	cmd.Flags().StringVar(&role, "role", string(pki.RoleCoordinator), "`role` of its holder: coordinator or worker")
	command.RequireFlag(cmd, &authority, "ca", "`directory` with the authority and its key")
	command.RequireFlag(cmd, &out, "out", "`directory` for the certificate")
	return cmd
}

func issue(role, authority, out string, names []string) error {
	switch {
	case role == string(pki.RoleCoordinator) && len(names) == 0:
		return &exit.Failure{Code: exit.Usage, What: "a coordinator's certificate needs the names it is reached by",
			Hint: "`gram pki issue --ca DIR --out DIR c2.example 10.0.0.6`"}
	case role == string(pki.RoleCoordinator):
		return pkiFailure(pki.Issue(authority, out, append(names, "localhost", "127.0.0.1", "::1"), time.Now()))
	case role == string(pki.RoleWorker) && len(names) <= 1:
		return pkiFailure(pki.IssueWorker(authority, out, strings.Join(names, ""), time.Now()))
	case role == string(pki.RoleWorker):
		return &exit.Failure{Code: exit.Usage, What: "a worker's certificate has one name at most, for people"}
	}
	return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--role %q is unknown; known: coordinator, worker", role)}
}

func pkiFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pki.ErrHost):
		return &exit.Failure{Code: exit.Usage, What: err.Error()}
	case errors.Is(err, pki.ErrExists):
		return &exit.Failure{Code: exit.Conflict, What: err.Error()}
	case errors.Is(err, os.ErrNotExist):
		return &exit.Failure{Code: exit.NotFound, What: err.Error(),
			Hint: "`gram pki init` makes an authority; one that a coordinator made is in pki below its data directory."}
	}
	return fmt.Errorf("certificates: %w", err)
}
