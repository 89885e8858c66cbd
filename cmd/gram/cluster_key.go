package main

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/attest"
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
` + "`gram model get --public-key`" + ` or ` + "`model_signing verify key`" + `. The key stays the same
as long as the cluster; one that is restored from a backup has it too.`,
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
func clusterKey(ctx context.Context, c *client.Cluster) (attest.PublicKey, error) {
	res, err := c.Models.SigningKey(ctx, connect.NewRequest(&gramv1.SigningKeyRequest{}))
	if err != nil {
		return attest.PublicKey{}, err
	}
	return attest.ReadPublicKey([]byte(res.Msg.GetPublicKey()))
}
