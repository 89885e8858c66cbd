package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gram-compute/gram/cmd/gram/internal/bench"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/spf13/cobra"
)

func benchCompareCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compare A.json B.json",
		Short: "Compare two measurements: speed, and whether results are the same",
		Example: `  gram bench compare here.json there.json
  gram bench compare before.json after.json -o json`,
		Long: `Each file is what ` + "`gram bench -o json`" + ` printed. A ratio above 1 means that B is
faster, on one core and for whole jobs; "?" follows it where the quartiles of
the two overlap, so that it may be noise.

Exit code 0: both made the same results, bit for bit. 9: a digest differs. Then
one of the machines, or one of the builds, computes wrong results.`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var both [2]bench.Result
			for i, file := range args {
				var err error
				if both[i], err = readBench(a, file); err != nil {
					return err
				}
			}
			c, err := bench.Compare(both[0], both[1])
			if err != nil {
				return &exit.Failure{Code: exit.Usage, What: "these two cannot be compared", Why: err,
					Hint: "Measure both machines with the same version of gram."}
			}
			return printComparison(a, c)
		},
	}
}

// maxBenchBytes is more than any measurement takes.
const maxBenchBytes = 1 << 20

func readBench(a *app, file string) (r bench.Result, err error) {
	text, err := os.ReadFile(a.within(file))
	if errors.Is(err, fs.ErrNotExist) {
		return r, &exit.Failure{Code: exit.NotFound, What: "there is no file " + file, Cause: err,
			Hint: "`gram bench -o json > " + shellQuote(file) + "` makes one."}
	}
	if err != nil {
		return r, err
	}
	if len(text) > maxBenchBytes {
		err = errors.New("it is larger than a measurement can be")
	} else if err = json.Unmarshal(text, &r); err == nil {
		err = r.Check()
	}
	if err != nil {
		return r, &exit.Failure{Code: exit.Usage, What: file + " is not a measurement of gram bench", Why: err,
			Hint: "`gram bench -o json` prints one."}
	}
	return r, nil
}

func printComparison(a *app, c bench.Comparison) error {
	c.SchemaVersion = show.SchemaVersion
	for i, name := range []string{"A", "B"} {
		for _, w := range c.Busy[i] {
			a.note("gram: warning: machine %s was busy: %s", name, w)
		}
	}
	if a.flags.output == "json" {
		if err := a.printJSON(c); err != nil {
			return err
		}
	} else {
		printRatios(a, c)
	}
	if c.SameResults {
		return nil
	}
	differ := 0
	for _, f := range c.Figures {
		if f.Differ {
			differ++
		}
	}
	return &exit.Failure{Code: exit.Damaged, Cause: errResultsDiffer,
		What: fmt.Sprintf("RESULTS DIFFER: %d of %d digests are not the same", differ, c.Compared),
		Hint: "The same data give the same bits on every sound machine. Repeat `gram bench` on both; then\n" +
			"take the one whose digests are not those of a third out of service, or compare the builds."}
}

var errResultsDiffer = errors.New("the results differ")

func printRatios(a *app, c bench.Comparison) {
	for i, name := range []string{"A", "B"} {
		text := fmt.Sprintf("%s  %s, %s, gram %s", name, c.Machines[i], c.Kernels[i], c.Builds[i])
		fmt.Fprintln(a.out, terminal.Shorten(terminal.Clean(text), terminal.Columns))
	}
	fmt.Fprintln(a.out)
	var t terminal.Table
	t.Row("", "A", "B", "UNIT", "B IS", "RESULTS")
	for _, f := range c.Figures {
		results := "-"
		switch {
		case f.Differ:
			results = "DIFFER"
		case f.Digests[0] != "":
			results = "same"
		}
		ratio := fmt.Sprintf("%.2fx", f.Ratio)
		if !f.Apart {
			ratio += " ?"
		}
		t.Row(terminal.Shorten(terminal.Clean(f.Title), benchColumns), measure.Digits(f.Values[0]),
			measure.Digits(f.Values[1]), f.Unit, ratio, results)
	}
	t.Write(a.out)
	for _, id := range c.Missing {
		fmt.Fprintf(a.out, "only one has %s\n", terminal.Clean(id))
	}
	if c.SameResults {
		fmt.Fprintf(a.out, "\nall %d results are the same, bit for bit\n", c.Compared)
	}
}

// benchColumns is how much room a title has in the table of a comparison.
const benchColumns = 44
