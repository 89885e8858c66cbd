package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/verify"
	"github.com/spf13/cobra"
)

func diffCommand(a *app) *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:   "diff JOB|URI JOB|URI",
		Short: "Find where two finished jobs part",
		Example: `  gram diff digits-k3f9p2 digits-8x2mq4
  gram diff news@latest s3://models/news-older/ -o json`,
		Long: `Compares the specs, inputs and builds of two jobs, then the digests of what they
made, round by round: the first node that differs is named. For each array of
the models it prints how many elements differ, the largest difference, and how
many floats apart two elements are (ULP), at most and on average. Last come the
figures on held-out records that differ.

A word without "." and "/" names a job (an id, SCHEDULE@latest or @ALIAS), all
else the folder of a model. With --store both are jobs, by their ids, in the
cluster's store, whether or not there is a cluster.

A job that is named by its id is compared first with what its cluster, or the
store, knows of it, as ` + "`gram verify`" + ` does.

Exit code 0: the models are the same, byte for byte. 9: they are not, or files
of one are damaged or not that job's; ` + "`gram verify`" + ` tells more.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return diffJobs(cmd.Context(), a, args, store) },
	}
	cmd.Flags().StringVar(&store, "store", "", storeUsage)
	return cmd
}

func diffJobs(ctx context.Context, a *app, from []string, store string) error {
	var folders [2]compare.Folder
	for i := range folders {
		at, asked, err := finishedJob(ctx, a, from[i], store)
		if err != nil {
			return err
		}
		if err := leftIn(ctx, at, from[i], store, asked); err != nil {
			return err
		}
		folders[i] = compare.Folder{Name: from[i], Read: func(ctx context.Context, name string) ([]byte, error) {
			return objects.Read(ctx, at+name, maxModelBytes, "")
		}}
	}
	d, err := compare.Jobs(ctx, folders[0], folders[1])
	if damaged, ok := errors.AsType[*compare.Damaged](err); ok {
		return &exit.Failure{Code: exit.Damaged, What: damaged.File + " of " + damaged.Folder + " cannot be used",
			Why: damaged.Err, Hint: verifyHint(damaged.Folder, store), Cause: err}
	}
	if err != nil {
		return err
	}
	d.SchemaVersion = show.SchemaVersion
	if a.flags.output == "json" {
		err = a.printJSON(d)
	} else {
		printDifference(a, d)
	}
	if err != nil {
		return err
	}
	for i, other := range d.Other {
		if other {
			return &exit.Failure{Code: exit.Damaged, Hint: verifyHint(from[i], store),
				What: "the model of " + from[i] + " is not the one that the job's record names"}
		}
	}
	if d.SameModel {
		return nil
	}
	return &exit.Failure{Code: exit.Damaged, What: "the models differ", Cause: errModelsDiffer}
}

// verifyHint says how to look closer at one of the jobs; store is the flag's.
func verifyHint(from, store string) string {
	if store != "" {
		from = shellQuote(from) + " --store " + shellQuote(store)
	} else {
		from = shellQuote(from)
	}
	return "`gram verify " + from + "` tells what is false there."
}

// leftIn refuses a folder that does not hold what the job of that name is known to have left. What is absent and read
// is an error later.
func leftIn(ctx context.Context, folder, from, uri string, asked verify.Asked) error {
	if len(asked.Files) == 0 {
		return nil
	}
	store, prefix, err := openFolder(ctx, folder, true)
	if err != nil {
		return err
	}
	wrong, _, err := verify.Left(ctx, store, prefix, asked)
	if err != nil || len(wrong) == 0 {
		return err
	}
	return &exit.Failure{Code: exit.Damaged, What: "the folder of " + from + " is not what the job left",
		Why: errors.New(wrong[0].Says), Hint: verifyHint(from, uri)}
}

var errModelsDiffer = errors.New("the models differ")

// diffColumns is how much room a value has in a table of three columns.
const diffColumns = 24

func printDifference(a *app, d *compare.Difference) {
	var t terminal.Table
	t.Row("", d.Jobs[0], d.Jobs[1])
	for _, part := range []struct {
		name   string
		fields []compare.Field
	}{{"spec", d.Spec}, {"input", d.Input}, {"build", d.Build}} {
		if len(part.fields) == 0 {
			t.Row(part.name, "the same")
		}
		for _, f := range part.fields {
			left, right := diffValues(f.Left, f.Right)
			t.Row(shortenStart(rowName(part.name, f.Path), diffColumns+4), left, right)
		}
	}
	t.Write(a.out)
	var nodes strings.Builder
	writeWrapped(&nodes, "       ", d.Nodes.Says)
	fmt.Fprintf(a.out, "\nnodes  %s\n", strings.TrimSpace(nodes.String()))
	fmt.Fprintln(a.out)
	printArrays(a, d.Arrays)
	printFigures(a, d)
}

// rowName is the path of a field with the name of its part, unless it is a name by itself.
func rowName(part, path string) string {
	first, _, _ := strings.Cut(path, " ")
	if part == "spec" || first == part || first == "queries" {
		return path
	}
	return part + " " + path
}

// shortenStart keeps the end of a name, by which long ones differ.
func shortenStart(name string, columns int) string {
	runes := []rune(terminal.Clean(name))
	if len(runes) <= columns {
		return string(runes)
	}
	return "..." + strings.TrimLeft(string(runes[len(runes)-columns+3:]), ".")
}

// diffValues are two values as the table shows them: of long ones, from shortly before where they part.
func diffValues(left, right string) (string, string) {
	a, b := []rune(terminal.Clean(left)), []rune(terminal.Clean(right))
	if max(len(a), len(b)) > diffColumns {
		same := 0
		for same < min(len(a), len(b)) && a[same] == b[same] {
			same++
		}
		if cut := same - diffColumns/4; cut > len("...") {
			a, b = append([]rune("..."), a[cut:]...), append([]rune("..."), b[cut:]...)
		}
	}
	return diffValue(string(a)), diffValue(string(b))
}

func diffValue(text string) string {
	if text == "" {
		return "-"
	}
	return terminal.Shorten(text, diffColumns)
}

func printArrays(a *app, arrays []compare.Array) {
	var t terminal.Table
	t.Row("ARRAY", "TYPE", "DIFFER", "LARGEST", "ULP MAX", "ULP MEAN")
	same := 0
	for _, array := range arrays {
		switch {
		case array.Says == "the same":
			same++
		case array.Differ == 0:
			t.Row(shortenStart(array.Name, diffColumns), array.Type, array.Says)
		default:
			ulps := [2]string{"-", "-"} // of whole numbers
			if array.MaxULP > 0 {
				ulps = [2]string{shortULP(array.MaxULP), shortNumber(array.MeanULP)}
			}
			t.Row(shortenStart(array.Name, diffColumns), array.Type,
				fmt.Sprintf("%d of %d", array.Differ, array.Elements), shortNumber(array.Largest), ulps[0], ulps[1])
		}
	}
	if same == len(arrays) {
		fmt.Fprintf(a.out, "model  the same: %d arrays\n", same)
		return
	}
	t.Write(a.out)
	fmt.Fprintf(a.out, "\n%d of %d arrays of the models differ\n", len(arrays)-same, len(arrays))
}

func printFigures(a *app, d *compare.Difference) {
	switch {
	case !d.Evaluated:
		fmt.Fprintf(a.out, "\nevaluation  not both jobs held records out (spec.input.split)\n")
		return
	case len(d.Evaluation) == 0:
		fmt.Fprintf(a.out, "\nevaluation  no figure differs\n")
		return
	}
	var t terminal.Table
	t.Row("EVALUATION", d.Jobs[0], d.Jobs[1], "CHANGE")
	for _, f := range d.Evaluation {
		t.Row(f.Name, shortNumber(f.Left), shortNumber(f.Right), change(f.Left, f.Right))
	}
	fmt.Fprintln(a.out)
	t.Write(a.out)
}

// shortULP writes a distance: one of many digits only says that the values have little in common.
func shortULP(n int64) string {
	if n < 1e9 {
		return strconv.FormatInt(n, 10)
	}
	return shortNumber(float64(n))
}

// exactWhole bounds the whole numbers that are written out.
const exactWhole = 1e15

func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) < exactWhole }

// shortNumber writes whole numbers, such as counts, as they are, and others with six digits.
func shortNumber(v float64) string {
	if isWhole(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// change is how far a figure went, with its sign: of two counts a count, else of three digits.
func change(left, right float64) string {
	if isWhole(left) && isWhole(right) {
		return fmt.Sprintf("%+.0f", right-left)
	}
	return fmt.Sprintf("%+.3g", right-left)
}
