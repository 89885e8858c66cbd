package runreport

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
)

// Bounds of what is printed of pairs.
const (
	pairColumns   = 80
	maxWorstPairs = 30 // shown where no square of all classes fits
)

// printPairs prints how a job told every two classes apart, where it did: a square of all classes where that
// fits, and else the pairs with most errors.
func printPairs(out io.Writer, metrics []jobs.Metric) {
	var pairs []onevsone.Pair
	if jobs.ReadMetric(metrics, onevsone.Metric, &pairs) != nil || len(pairs) == 0 {
		return
	}
	square, fits := pairSquare(pairs)
	if fits {
		fmt.Fprint(out, "\nerrors of every two classes: below the diagonal how many, above it in percent\n")
		square.Write(out)
	} else {
		printWorstPairs(out, pairs)
	}
	fmt.Fprint(out, "\nreport.html shows records that the pairs misclassified, where they are pictures\n")
}

// pairSquare has a row and a column for each class.
func pairSquare(pairs []onevsone.Pair) (square terminal.Table, fits bool) {
	names := []string{pairs[0].First}
	for _, p := range pairs {
		if p.First != names[0] {
			break // the pairs of the first class name all others
		}
		names = append(names, p.Second)
	}
	n := len(names)
	cells := make([][]string, n+1)
	for i := range cells {
		cells[i] = make([]string, n+1)
	}
	for i, name := range names {
		cells[0][i+1], cells[i+1][0], cells[i+1][i+1] = name, name, "-"
	}
	next := 0
	for i := 1; i <= n; i++ {
		for j := i + 1; j <= n && next < len(pairs); j++ {
			cells[i][j], cells[j][i] = fmt.Sprintf("%.2f", pairs[next].ErrorPercent), fmt.Sprint(pairs[next].Errors)
			next++
		}
	}
	width := rightAlign(cells)
	for _, row := range cells {
		square.Row(row...)
	}
	return square, next == len(pairs) && width <= pairColumns
}

// rightAlign pads all cells of a column but the first to one width, and returns how wide the table is.
func rightAlign(cells [][]string) (width int) {
	for j := range cells[0] {
		widest := 0
		for i := range cells {
			widest = max(widest, utf8.RuneCountInString(cells[i][j]))
		}
		if width += widest; j == 0 {
			continue
		}
		width += 2
		for i := range cells {
			cells[i][j] = fmt.Sprintf("%*s", widest, cells[i][j])
		}
	}
	return width
}

// printWorstPairs prints a line for each of the pairs that err most.
func printWorstPairs(out io.Writer, pairs []onevsone.Pair) {
	worst := slices.SortedStableFunc(slices.Values(pairs),
		func(p, q onevsone.Pair) int { return cmp.Compare(q.ErrorPercent, p.ErrorPercent) })
	worst = worst[:min(len(worst), maxWorstPairs)]
	fmt.Fprintf(out, "\nthe %d of %d pairs with the largest share of errors; all are in %s\n", len(worst), len(pairs),
		onevsone.File)
	cells := [][]string{{"FIRST AND SECOND", "ERRORS", "RECORDS", "PERCENT"}}
	for _, p := range worst {
		name := terminal.Shorten(p.First, 22) + ", " + terminal.Shorten(p.Second, 22)
		cells = append(cells, []string{name, fmt.Sprint(p.Errors), fmt.Sprint(p.Records),
			fmt.Sprintf("%.2f", p.ErrorPercent)})
	}
	rightAlign(cells)
	table := terminal.Table{}
	for _, row := range cells {
		table.Row(row...)
	}
	table.Write(out)
}
