package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/jobs/kernelmatrix"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/gram-compute/gram/objstore"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Bounds of what one call reads at once.
const (
	maxIndexBytes = 256 << 20
	maxPartBytes  = 4 << 30
)

func (a *app) getCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "get JOB|URI [RESULT]",
		Short: "Join the parts of a result into one file",
		Example: `  gram get digits-k3f9p2 > predictions.csv
  gram get digits-k3f9p2 neighbors --out neighbors.npy
  gram get s3://models/digits-k3f9p2/ predictions`,
		Long: `A result with a row for every record lies beside its model: one object for
each shard and an index. RESULT is the name of its folder, by default
predictions. Every part is held against its SHA-256 in the index before it is
written. Of a kernel matrix (tiles), --out is one npy file.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			result := "predictions"
			if len(args) == 2 {
				result = strings.Trim(args[1], "/")
			}
			folder, err := a.outputFolder(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.getResult(cmd.Context(), folder, result, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default stdout)")
	return cmd
}

// outputFolder is the URI, ending in "/", of the folder with a job's model.
func (a *app) outputFolder(ctx context.Context, from string) (string, error) {
	if strings.ContainsAny(from, "./") {
		return a.folder(from), nil
	}
	c, err := a.connect()
	if err != nil {
		return "", err
	}
	job, err := c.find(ctx, from)
	if err != nil {
		return "", err
	}
	model, err := modelOf(job)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(model.GetUri(), model.GetName()), nil
}

// folder is the URI of a folder that the command line names, ending in "/".
func (a *app) folder(from string) string {
	return strings.TrimRight(specfile.AbsoluteURI(from, a.dir), "/") + "/"
}

// getResult writes a result to a file, which appears whole or not at all, or to stdout.
func (a *app) getResult(ctx context.Context, folder, result, out string) error {
	data, err := readObject(ctx, folder+result+"/"+parts.IndexName, maxIndexBytes, "")
	if errors.Is(err, objstore.ErrNotFound) {
		return &failure{code: exitNotFound, what: fmt.Sprintf("there is no result %q beside the model", result), cause: err,
			hint: "A job has one only if its kind and params ask for it: " + folder + result + "/" + parts.IndexName + " is not there."}
	}
	if err != nil {
		return err
	}
	if result == kernelmatrix.TilesFolder {
		return a.getMatrix(ctx, folder, data, out)
	}
	index, err := parts.ReadIndex(data)
	if err != nil {
		return fmt.Errorf("%s%s: %w", folder, result, err)
	}
	if out == "" {
		if f, ok := a.out.(*os.File); ok && index.Format == parts.NPY && term.IsTerminal(int(f.Fd())) {
			return &failure{code: exitUsage, what: "npy is no text for a terminal", hint: "Name a file with --out."}
		}
		return join(ctx, folder, index, a.out)
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(a.dir, out)
	}
	return writeWhole(out, func(w io.Writer) error { return join(ctx, folder, index, w) })
}

// getMatrix puts the tiles of a kernel matrix together, in a file: they do not follow each other.
func (a *app) getMatrix(ctx context.Context, folder string, data []byte, out string) error {
	index, err := kernelmatrix.ReadIndex(data)
	if err != nil {
		return fmt.Errorf("%s%s: %w", folder, kernelmatrix.TilesFolder, err)
	}
	if out == "" {
		return &failure{code: exitUsage, what: "the tiles of a matrix become one npy file", hint: "Name it with --out."}
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(a.dir, out)
	}
	read := func(ctx context.Context, t kernelmatrix.Tile) ([]byte, error) {
		return readObject(ctx, folder+t.Name, maxPartBytes, t.SHA256)
	}
	return writeFile(out, func(f *os.File) error { return kernelmatrix.Assemble(ctx, index, read, f) })
}

func join(ctx context.Context, folder string, index parts.Index, out io.Writer) error {
	joiner := parts.NewJoiner(index, out)
	for _, p := range index.Parts {
		data, err := readObject(ctx, folder+p.Name, maxPartBytes, p.SHA256)
		if err != nil {
			return err
		}
		if err := joiner.Add(data); err != nil {
			return err
		}
	}
	return nil
}

// writeWhole writes beside a file and then takes its place.
func writeWhole(path string, write func(io.Writer) error) error {
	return writeFile(path, func(f *os.File) error { return write(f) })
}

// writeFile is writeWhole for what is not written from front to back.
func writeFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // it is only a half
	}
	return err
}
