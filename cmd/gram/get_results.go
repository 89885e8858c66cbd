package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/jobs/learn/parts"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// resultsIn lists the results in a job's folder: the names of the folders with an index.
func resultsIn(ctx context.Context, folder string) ([]string, error) {
	storeURI, key, err := objstore.SplitObjectURI(folder + parts.IndexName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	store, err := objects.OpenAnywhere(ctx, storeURI, true)
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimSuffix(key, parts.IndexName)
	var names []string
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", folder, err)
		}
		if name, ok := strings.CutSuffix(strings.TrimPrefix(info.Key, prefix), "/"+parts.IndexName); ok &&
			!strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// chooseResult is the result that a person named, or the only one.
func chooseResult(ctx context.Context, folder, named string) (string, error) {
	names, err := resultsIn(ctx, folder)
	switch {
	case err != nil && named != "" && !errors.Is(err, objstore.ErrNotFound):
		return named, nil // what may be read need not be listed
	case err != nil:
		return "", err
	case slices.Contains(names, named):
		return named, nil
	case named == "" && len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", &exit.Failure{Code: exit.NotFound,
			What: "there is no result with a row for every record in " + folder,
			Hint: "A job has one only if its kind and params ask for it; `gram model get` writes its model and report."}
	case named == "":
		return "", &exit.Failure{Code: exit.Usage, What: "the job has several results: " + strings.Join(names, ", "),
			Hint: "Name one: `gram get JOB " + names[0] + "`."}
	}
	f := &exit.Failure{Code: exit.NotFound,
		What: fmt.Sprintf("there is no result %q; its results: %s", named, strings.Join(names, ", "))}
	if near := protocol.Nearest(named, names); near != "" {
		f.Hint = fmt.Sprintf("Did you mean %q?", near)
	}
	return "", f
}

// spreadsheet passes CSV on so that a spreadsheet shows it and runs nothing: a cell that begins with =, +, -, @ or a
// control character, and is no number, gets an apostrophe in front, and control characters are written as escapes.
func spreadsheet(out io.Writer, write func(io.Writer) error) error {
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := quoteCells(csv.NewReader(reader), csv.NewWriter(out))
		reader.CloseWithError(err) // so that the one who writes does not wait
		done <- err
	}()
	err := write(writer)
	writer.CloseWithError(err)
	if quoted := <-done; err == nil || errors.Is(err, io.ErrClosedPipe) {
		err = quoted
	}
	return err
}

func quoteCells(in *csv.Reader, out *csv.Writer) error {
	in.ReuseRecord = true
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			out.Flush()
			return out.Error()
		}
		if err != nil {
			return err
		}
		for i, cell := range row {
			row[i] = quoteCell(cell)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
}

func quoteCell(cell string) string {
	if cell == "" {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	first := cell[0]
	if cell = protocol.Visible(cell); strings.IndexByte("=+-@\t\r\n", first) >= 0 {
		return "'" + cell
	}
	return cell
}
