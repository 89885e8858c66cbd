package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/local"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/spf13/cobra"
)

func restoreCommand(a *app) *cobra.Command {
	var cfg coordinator.Config
	var digest, store string
	var declared local.StoreFlags
	cmd := &cobra.Command{
		Use:   "restore FILE --data DIR",
		Short: "Begin a new cluster's data directory with a backup",
		Example: `  gram cluster restore gram.backup --data /var/lib/gram --store s3://gram-jobs
  gram cluster restore gram.backup --data new --store s3://gram-jobs \
      --sha256 "$(cat gram.backup.sha256)"
  gram coordinator --data new --store s3://gram-jobs`,
		Long: `DIR is made, or is empty but for the folder pki. FILE is read to its end and
compared with its own digest, and with --sha256, which is what
` + "`gram cluster backup`" + ` printed, before anything is written; the store is looked
into for the objects it refers to. Nothing is started and no cluster is asked:
stop the old one first. Then ` + "`gram coordinator --data DIR`" + ` is a cluster of one,
which others join. The file's SHA-256 goes to stdout.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg.Restore, cfg.StoreURI = args[0], a.storeURI(store)
			return restore(cmd.Context(), a, cfg, declared, digest)
		},
	}
	command.RequireFlag(cmd, &cfg.DataDir, "data", "`directory` of the new cluster's first coordinator")
	command.RequireFlag(cmd, &store, "store", "where the old cluster's job objects live: `URI`")
	cmd.Flags().StringVar(&cfg.NodeID, "node-id", "", "`name` of that coordinator, for good (default c1)")
	cmd.Flags().StringVar(&declared.File, "stores", "", "`file` that declares the store, as for gram coordinator")
	cmd.Flags().StringVar(&digest, "sha256", "", "the `digest` that the file must have, in hex")
	return cmd
}

func restore(ctx context.Context, a *app, cfg coordinator.Config, declared local.StoreFlags, want string) error {
	if err := coordinator.CheckEmpty(cfg.DataDir); err != nil {
		return restoreFailure(err)
	}
	got, err := checkBackupFile(cfg.Restore)
	if err != nil {
		return err
	}
	if want != "" && !strings.EqualFold(strings.TrimSpace(want), got) {
		return fmt.Errorf("%s has the SHA-256 %s, not %s: it is another backup, or was altered", cfg.Restore, got, want)
	}
	if err := local.GuardStores(ctx, declared, a.getenv, &cfg); err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	restored, err := coordinator.RestoreOffline(ctx, cfg)
	if err != nil {
		return restoreFailure(err)
	}
	announceRestored(a, cfg.Restore, restored, "its first start makes new tokens")
	a.note("gram: %s is prepared; `gram coordinator --data %s` begins the new cluster", cfg.DataDir,
		shellQuote(cfg.DataDir))
	fmt.Fprintln(a.out, got)
	return nil
}

// checkBackupFile reads a backup to its end and returns its SHA-256 in hex.
func checkBackupFile(name string) (string, error) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return "", &exit.Failure{Code: exit.NotFound, What: err.Error()}
	}
	if err != nil {
		return "", fmt.Errorf("read backup: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if err := coordinator.CheckBackup(io.TeeReader(file, sum)); err != nil { // it reads to the end
		return "", fmt.Errorf("%s is no whole backup: %w", name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func restoreFailure(err error) error {
	if errors.Is(err, node.ErrNotEmpty) {
		return &exit.Failure{Code: exit.Conflict, What: err.Error()}
	}
	return err
}
