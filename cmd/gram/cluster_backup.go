package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that the cluster has decided to a file",
		Example: `  gram cluster backup gram.backup > gram.backup.sha256
  gram cluster restore gram.backup --data new --store s3://gram-jobs \
      --sha256 "$(cat gram.backup.sha256)"`,
		Long: `Jobs, commits, references to objects, schedules and the hashes of tokens; not
the objects, which stay in the store. The file is checked before it gets its
name, and must not be there yet. Its SHA-256 goes to stdout; keep it with the
file. A new cluster begins with it: ` + "`gram cluster restore`" + `.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			digest, err := backup(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, digest)
			return nil
		},
	}
}

// backup returns the digest of the file it made.
func backup(ctx context.Context, c *client.Cluster, name string) (digest string, err error) {
	if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		return "", &exit.Failure{Code: exit.Conflict, What: name + " is there already",
			Hint: "A backup overwrites nothing: choose another name."}
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write backup: %w", err)
	}
	digest, err = fetchBackup(ctx, c, file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = coordinator.CheckBackup(file)
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return digest, nil
}

// fetchBackup writes the pieces, and checks them against the digest that follows them.
func fetchBackup(ctx context.Context, c *client.Cluster, to io.Writer) (string, error) {
	stream, err := c.Services.Backup(ctx, connect.NewRequest(&gramv1.BackupRequest{}))
	if err != nil {
		return "", c.Explain(err)
	}
	defer stream.Close()
	sum := sha256.New()
	var told []byte
	for stream.Receive() {
		piece := stream.Msg().GetPiece()
		sum.Write(piece)
		if _, err := to.Write(piece); err != nil {
			return "", fmt.Errorf("write backup: %w", err)
		}
		told = stream.Msg().GetSha256()
	}
	if err := stream.Err(); err != nil {
		return "", c.Explain(err)
	}
	if got := sum.Sum(nil); !bytes.Equal(got, told) {
		return "", fmt.Errorf("the backup's SHA-256 is %x, the coordinator says %x: it was cut short or altered on "+
			"the way; repeat it", got, told)
	}
	return hex.EncodeToString(told), nil
}
