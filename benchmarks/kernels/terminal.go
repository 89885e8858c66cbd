package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/gram-compute/gram/internal/measure"
)

// print tells what came out, in lines of at most 80 columns.
func (r result) print(out io.Writer) {
	rec := r.record()
	rounds := 0
	if len(rec.Entries) > 0 {
		rounds = len(rec.Entries[0].Samples)
	}
	fmt.Fprintf(out, "%s (threads %d, rounds %d)\n", rec.Title, rec.Threads, rounds)
	for _, e := range rec.Entries {
		line := fmt.Sprintf("  %-14s %8s %-8s", e.Name, measure.Digits(e.Rate.Median), e.Unit)
		if e.Share != nil {
			line += fmt.Sprintf("%8s of its limit", share.show(e.Share.Median))
		}
		if e.Lead != nil {
			line += fmt.Sprintf("   Gram is %s", ratio.show(e.Lead.Median))
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// printGoals prints those not met and, on the last line, how many are.
func (p *page) printGoals(out io.Writer) {
	for _, g := range p.Goals {
		if g.Met {
			continue
		}
		measured := "not measured: " + g.Missing
		if g.Measured != nil {
			measured = g.show(g.Measured.Median) + ", quartiles " + g.quartiles(*g.Measured)
		}
		fmt.Fprintf(out, "not met: %s\n", g.What)
		fmt.Fprintf(out, "    %s; %s\n", g.asks(g.Least), measured)
		if g.Limit != "" {
			fmt.Fprintf(out, "    %s\n", g.Limit)
		}
	}
	fmt.Fprintf(out, "bench-kernels: %d goals, %d met\n", len(p.Goals), p.met())
}

// limitLine is a line of the file of limits.
var limitLine = regexp.MustCompile("^\\* `([a-z0-9-]+)`: (.+)$")

// readLimits reads what the file says of a machine: below the heading of its name, a line for
// a goal. A goal that there is not is an error, or the file would say old things.
func readLimits(path, slug string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, g := range goals() {
		known[g.id] = true
	}
	why, here := map[string]string{}, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			here = heading == slug
		}
		m := limitLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !known[m[1]] {
			return nil, fmt.Errorf("%s: there is no goal %q", path, m[1])
		}
		if here {
			why[m[1]] = m[2]
		}
	}
	return why, nil
}
