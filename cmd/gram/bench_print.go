package main

import (
	"fmt"

	"github.com/gram-compute/gram/cmd/gram/internal/bench"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/internal/measure"
)

// printBench prints the sentence and the table; what disturbed the machine goes to stderr.
func printBench(a *app, r bench.Result) error {
	for _, w := range r.Busy.Warnings {
		a.note("gram: warning: the machine was busy: %s", w)
	}
	if a.flags.output == "json" {
		return a.printJSON(r)
	}
	fmt.Fprintln(a.out, terminal.Wrap(terminal.Clean(r.Sentence), terminal.Columns))
	fmt.Fprintln(a.out)
	var t terminal.Table
	t.Row("", "1 CORE", "ALL", "UNIT", "SHARE", "DIGEST")
	for _, row := range r.Rows {
		all, share := "-", "-"
		if row.AllCores != nil {
			all = measure.Digits(row.AllCores.Median)
		}
		if row.Share != nil {
			share = fmt.Sprintf("%.0f %%", 100**row.Share)
		}
		t.Row(row.Title, measure.Digits(row.OneCore.Median), all, row.Unit, share, shortDigest(row.Digest))
	}
	for _, j := range r.Jobs {
		t.Row(j.Title, "-", measure.Digits(j.Seconds.Median), "s", "-", shortDigest(j.Digest))
	}
	t.Write(a.out)
	fmt.Fprintln(a.out, "\nSHARE is of what a core multiplies and adds, or reads, when it does only that.")
	return nil
}

// shortDigest is the beginning of a digest, for people; JSON has all of it.
func shortDigest(digest string) string {
	if digest == "" {
		return "-"
	}
	return digest[:min(8, len(digest))]
}
