package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/spf13/cobra"
)

func (a *app) pkiCommand() *cobra.Command {
	return group("pki", "Make certificates for coordinators", `  gram pki init --ca ./pki
  gram pki issue --ca ./pki --out ./c2/pki c2.example 10.0.0.6`, a.pkiInitCommand(), a.pkiIssueCommand())
}

func (a *app) pkiInitCommand() *cobra.Command {
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
	requireFlag(cmd, &authority, "ca", "`directory` of the authority")
	return cmd
}

func (a *app) pkiIssueCommand() *cobra.Command {
	var authority, out string
	cmd := &cobra.Command{
		Use:     "issue --ca DIR --out DIR NAME...",
		Short:   "Make a coordinator's certificate",
		Example: "  gram pki issue --ca ./pki --out ./c2/pki c2.example 10.0.0.6",
		Long: `NAMEs are the DNS names and IP addresses that clients, workers and the other
coordinators reach it by; localhost, 127.0.0.1 and ::1 are added. The directory
becomes pki below the coordinator's data directory. A certificate lasts a year;
issue it again, and start the coordinator again, before that.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, names []string) error {
			if err := pki.Issue(authority, out, append(names, "localhost", "127.0.0.1", "::1"), time.Now()); err != nil {
				return pkiFailure(err)
			}
			a.note("gram: certificate in %s", out)
			return nil
		},
	}
	requireFlag(cmd, &authority, "ca", "`directory` with the authority and its key")
	requireFlag(cmd, &out, "out", "`directory` for the certificate")
	return cmd
}

func requireFlag(cmd *cobra.Command, value *string, name, usage string) {
	cmd.Flags().StringVar(value, name, "", usage)
	if err := cmd.MarkFlagRequired(name); err != nil {
		panic(err) // the flag is defined above
	}
}

func pkiFailure(err error) error {
	switch {
	case errors.Is(err, pki.ErrExists):
		return &failure{code: exitConflict, what: err.Error()}
	case errors.Is(err, os.ErrNotExist):
		return &failure{code: exitNotFound, what: err.Error(), hint: "`gram pki init` makes an authority; one that a coordinator made is in pki below its data directory."}
	}
	return fmt.Errorf("certificates: %w", err)
}
