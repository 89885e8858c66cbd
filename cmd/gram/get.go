package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs/kernelmatrix"
	"github.com/gram-compute/gram/jobs/parts"
	"github.com/spf13/cobra"
)

// Bounds of what one call reads at once.
const (
	maxIndexBytes = 256 << 20
	maxPartBytes  = 4 << 30
)

func (a *app) getCommand() *cobra.Command {
	var out string
	var sheet bool
	cmd := &cobra.Command{
		Use:   "get JOB|URI [RESULT]",
		Short: "Join the parts of a result into one file",
		Example: `  gram get digits-k3f9p2 > predictions.csv
  gram get digits-k3f9p2 neighbors --out neighbors.npy
  gram get s3://models/digits-k3f9p2/ predictions`,
		Long: `A result with a row for every record lies beside its model: one object for
each shard and an index. RESULT is the name of its folder, such as predictions;
it may be left out where there is one only. Every part is compared with its
SHA-256 in the index before it is written. Of a kernel matrix (tiles), --out is
one npy file.

A file has labels as the input has them. On a terminal, characters that would
steer it are shown as escapes. For a spreadsheet, which takes a cell such as
=1+1 for a formula, --spreadsheet puts an apostrophe in front of cells that
begin with =, +, - or @ and are no numbers, and writes control characters as
escapes.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("output") {
				return &failure{code: exitUsage, what: "gram get writes a result in the format that the job gave it, whatever --output is",
					hint: "The spec's params choose the format: csv, jsonl or npy."}
			}
			result := ""
			if len(args) == 2 {
				result = strings.Trim(args[1], "/")
			}
			folder, err := a.outputFolder(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if result, err = chooseResult(cmd.Context(), folder, result); err != nil {
				return err
			}
			return a.getResult(cmd.Context(), folder, result, out, sheet)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default stdout)")
	cmd.Flags().BoolVar(&sheet, "spreadsheet", false, "CSV in which no cell is a formula")
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
func (a *app) getResult(ctx context.Context, folder, result, out string, sheet bool) error {
	data, err := readObject(ctx, folder+result+"/"+parts.IndexName, maxIndexBytes, "")
	if err != nil {
		return err
	}
	if sheet && result == kernelmatrix.TilesFolder {
		return notASheet("npy")
	}
	if result == kernelmatrix.TilesFolder {
		return a.getMatrix(ctx, folder, data, out)
	}
	index, err := parts.ReadIndex(data)
	if err != nil {
		return fmt.Errorf("%s%s: %w", folder, result, err)
	}
	write := func(w io.Writer) error { return join(ctx, folder, index, w) }
	if sheet {
		if index.Format != parts.CSV {
			return notASheet(index.Format)
		}
		plain := write
		write = func(w io.Writer) error { return spreadsheet(w, plain) }
	}
	if out == "" {
		return a.getToStdout(index.Format, write)
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(a.dir, out)
	}
	return writeWhole(out, write)
}

func notASheet(format string) error {
	return &failure{code: exitUsage, what: "--spreadsheet is of CSV, and this result is " + format}
}

// getToStdout writes a file as it is, but to a terminal only text, and nothing that steers it.
func (a *app) getToStdout(format string, write func(io.Writer) error) error {
	if !a.onTerminal() {
		return write(a.out)
	}
	if format == parts.NPY {
		return &failure{code: exitUsage, what: "npy is no text for a terminal", hint: "Name a file with --out."}
	}
	shown := terminal.NewVisibleWriter(a.out)
	return errors.Join(write(shown), shown.Close())
}

// onTerminal reports whether stdout is a terminal.
func (a *app) onTerminal() bool {
	out := a.out
	if sticky, ok := out.(*stickyWriter); ok {
		out = sticky.w
	}
	return terminal.IsTerminal(out)
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
	if errors.Is(err, fs.ErrNotExist) {
		return &failure{code: exitNotFound, what: fmt.Sprintf("%s: there is no folder %s", path, filepath.Dir(path)), cause: err}
	}
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
