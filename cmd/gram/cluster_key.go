package main

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func publicKeyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "public-key",
		Short:   "Print the key that verifies what the cluster signs",
		Example: "  gram cluster public-key > cluster.pub",
		Long: `Keep the file to check the cluster's signatures when the cluster is gone, with
` + "`gram model get --public-key`" + ` or ` + "`model_signing verify key`" + `. The key is the same
on every member and lasts as long as the cluster. A cluster that is restored
from a backup is another one, with another key.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			key, err := clusterKey(cmd.Context(), c)
			if err != nil {
				return c.Explain(err)
			}
			if a.flags.output == "json" {
				return a.printJSON(struct {
					SchemaVersion int    `json:"schema_version"`
					Key           string `json:"key"`
					PublicKey     string `json:"public_key"`
				}{show.SchemaVersion, key.ID(), string(key.PEM())})
			}
			_, err = fmt.Fprintf(a.out, "%s", key.PEM())
			return err
		},
	}
}

// clusterKey asks a cluster for its public key.
func clusterKey(ctx context.Context, c *client.Cluster) (attestation.PublicKey, error) {
	res, err := c.Models.SigningKey(ctx, connect.NewRequest(&gramv1.SigningKeyRequest{}))
	if err != nil {
		return attestation.PublicKey{}, err
	}
	return attestation.ReadPublicKey([]byte(res.Msg.GetPublicKey()))
}
