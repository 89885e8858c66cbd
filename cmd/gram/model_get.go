package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func modelGetCommand(a *app) *cobra.Command {
	var out string
	var keyFiles []string
	cmd := &cobra.Command{
		Use:   "get JOB",
		Short: "Download the model of a job and what lies beside it",
		Example: `  gram model get glosses-k3f9p2
  gram model get news@latest --out /srv/models/news
  gram model get glosses-k3f9p2 --public-key key.pub`,
		Long: `Writes the model, its provenance and the report of a finished job (an id,
SCHEDULE@latest or @ALIAS) into a folder. Every file is compared with the
SHA-256 that the cluster has of it before it is written. A file that is there
already stays if it is the same; with other content it is an error. The parts
of results with a row for every record are for ` + "`gram get`" + `. Signatures beside
the model (` + "`gram sign`" + `) are checked before anything is written, with the key of
the cluster. With --public-key only these keys count, and the model must have a
valid signature by one. An invalid signature is always an error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			job, err := c.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if _, err := modelOf(job); err != nil {
				return err
			}
			folder := out
			if folder == "" {
				folder = job.GetId()
			}
			folder = a.within(folder)
			signed, err := a.signaturesOf(cmd.Context(), c, job, keyFiles)
			if err != nil {
				return err
			}
			return getModel(cmd.Context(), a, job, folder, signed)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`folder` to write into (default the job's id)")
	cmd.Flags().StringSliceVar(&keyFiles, "public-key", nil,
		"`file` of a key, one of which must have signed the model; may be repeated")
	return cmd
}

// fetched is a file as `model get` tells it.
type fetched struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

func getModel(ctx context.Context, a *app, job *gramv1.Job, folder string, signed *signatures) error {
	files := []fetched{}
	for _, output := range job.GetOutputs() {
		if !filepath.IsLocal(filepath.FromSlash(output.GetName())) {
			return fmt.Errorf("job %s has an output named %q, which does not stay below a folder", job.GetId(),
				output.GetName())
		}
		path := filepath.Join(folder, filepath.FromSlash(output.GetName()))
		if err := fetch(ctx, output, path); err != nil {
			return err
		}
		files = append(files, fetched{output.GetName(), path, hex.EncodeToString(output.GetSha256()), output.GetSize()})
	}
	for _, s := range signed.files() {
		path := filepath.Join(folder, s.Name)
		if err := keep(path, objects.Digest(s.Data), func() ([]byte, error) { return s.Data, nil }); err != nil {
			return err
		}
		files = append(files, fetched{s.Name, path, objects.Digest(s.Data), int64(len(s.Data))})
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int                   `json:"schema_version"`
			Job           string                `json:"job"`
			Files         []fetched             `json:"files"`
			Signatures    []attestation.Finding `json:"signatures"`
		}{show.SchemaVersion, job.GetId(), files, signed.found})
	}
	var table terminal.Table
	for _, f := range files {
		table.Row(terminal.Clean(f.Name), show.Size(f.Size), f.SHA256[:min(12, len(f.SHA256))])
	}
	table.Write(a.out)
	a.note("gram: written to %s", folder)
	return nil
}

// fetch writes an output to a file, unless that has its bytes.
func fetch(ctx context.Context, output *gramv1.OutputFile, path string) error {
	want := hex.EncodeToString(output.GetSha256())
	return keep(path, want, func() ([]byte, error) { return objects.Read(ctx, output.GetUri(), maxModelBytes, want) })
}

// keep writes bytes of a SHA-256 to a file, unless that has them. It reads them only if they are to be written.
func keep(path, want string, read func() ([]byte, error)) error {
	switch have, err := os.ReadFile(path); {
	case err == nil && objects.Digest(have) == want:
		return nil
	case err == nil:
		return &exit.Failure{Code: exit.Usage, What: path + " is there with other content",
			Hint: "Name another folder with --out, or remove the file."}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	data, err := read()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
