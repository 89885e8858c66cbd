package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs/kinds/kernelmatrix"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/spf13/cobra"
)

// Bounds of what one call reads at once.
const (
	maxIndexBytes = 256 << 20
	maxPartBytes  = 4 << 30
)

func getCommand(a *app) *cobra.Command {
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
				return &exit.Failure{Code: exit.Usage,
					What: "gram get writes a result in the format that the job gave it, whatever --output is",
					Hint: "The spec's params choose the format: csv, jsonl or npy."}
			}
			result := ""
			if len(args) == 2 {
				result = strings.Trim(args[1], "/")
			}
			folder, err := outputFolder(cmd.Context(), a, args[0], "")
			if err != nil {
				return err
			}
			if result, err = chooseResult(cmd.Context(), folder, result); err != nil {
				return err
			}
			return getResult(cmd.Context(), a, folder, result, out, sheet)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default stdout)")
	cmd.Flags().BoolVar(&sheet, "spreadsheet", false, "CSV in which no cell is a formula")
	return cmd
}

// outputFolder is the URI, ending in "/", of the folder with a job's model: of a job of the cluster; of a job, by its
// id, in a cluster's store; or of the URI of the folder itself.
func outputFolder(ctx context.Context, a *app, from, store string) (string, error) {
	if store != "" {
		folder, _, err := objects.LeftFolder(ctx, a.storeURI(store), from)
		return folder, err
	}
	place, err := a.outputsOf(ctx, from)
	return place.folder, err
}

// getResult writes a result to a file, which appears whole or not at all, or to stdout.
func getResult(ctx context.Context, a *app, folder, result, out string, sheet bool) error {
	data, err := objects.Read(ctx, folder+result+"/"+parts.IndexName, maxIndexBytes, "")
	if err != nil {
		return err
	}
	if sheet && result == kernelmatrix.TilesFolder {
		return notASheet("npy")
	}
	if result == kernelmatrix.TilesFolder {
		return getMatrix(ctx, a, folder, data, out)
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
		return getToStdout(a, index.Format, write)
	}
	out = a.within(out)
	return files.Write(out, write)
}

func notASheet(format string) error {
	return &exit.Failure{Code: exit.Usage, What: "--spreadsheet is of CSV, and this result is " + format}
}

// getToStdout writes a file as it is, but to a terminal only text, and nothing that steers it.
func getToStdout(a *app, format string, write func(io.Writer) error) error {
	if !a.onTerminal() {
		return write(a.out)
	}
	if format == parts.NPY {
		return &exit.Failure{Code: exit.Usage, What: "npy is no text for a terminal", Hint: "Name a file with --out."}
	}
	shown := terminal.NewVisibleWriter(a.out)
	return errors.Join(write(shown), shown.Close())
}

// getMatrix puts the tiles of a kernel matrix together, in a file: they do not follow each other.
func getMatrix(ctx context.Context, a *app, folder string, data []byte, out string) error {
	index, err := kernelmatrix.ReadIndex(data)
	if err != nil {
		return fmt.Errorf("%s%s: %w", folder, kernelmatrix.TilesFolder, err)
	}
	if out == "" {
		return &exit.Failure{Code: exit.Usage, What: "the tiles of a matrix become one npy file",
			Hint: "Name it with --out."}
	}
	out = a.within(out)
	read := func(ctx context.Context, t kernelmatrix.Tile) ([]byte, error) {
		return objects.Read(ctx, folder+t.Name, maxPartBytes, t.SHA256)
	}
	return files.WriteFile(out, func(f *os.File) error { return kernelmatrix.Assemble(ctx, index, read, f) })
}

func join(ctx context.Context, folder string, index parts.Index, out io.Writer) error {
	joiner := parts.NewJoiner(index, out)
	for _, p := range index.Parts {
		data, err := objects.Read(ctx, folder+p.Name, maxPartBytes, p.SHA256)
		if err != nil {
			return err
		}
		if err := joiner.Add(data); err != nil {
			return err
		}
	}
	return nil
}
