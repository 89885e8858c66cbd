package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// markdown is the page as people read it.
func (p *page) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Jobs on %s\n\n", p.Machine.CPU)
	fmt.Fprintf(&b, "Written by `make bench-jobs`; [how to read it](../../README.md). %s, %s.\n\n",
		p.Started.Format("2 January 2006"), time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range p.Machine.Rows() {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	fmt.Fprintf(&b, "| peers | %s |\n\n", p.peers())
	p.markdownGoals(&b)
	p.markdownTable(&b)
	return b.Bytes()
}

// peers names them and their versions.
func (p *page) peers() string {
	if p.Peers == nil {
		return "none installed"
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.Peers)) {
		all = append(all, name+" "+p.Peers[name])
	}
	return strings.Join(all, ", ")
}

func (p *page) markdownGoals(b *bytes.Buffer) {
	fmt.Fprintf(b, "## Goals\n\n%d of %d met. A ratio is the median of those of the rounds.\n\n", p.met(), len(p.Goals))
	b.WriteString("| goal | asked | measured | quartiles | met |\n|---|---:|---:|---:|---|\n")
	for _, g := range p.Goals {
		met := "no"
		if g.Met {
			met = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", g.What, g.goal.asks(), g.median(), g.quartiles(), met)
	}
	b.WriteString("\n")
	var why []string
	for _, g := range p.Goals {
		if g.Limit != "" {
			why = append(why, fmt.Sprintf("* %s: %s\n", g.What, g.Limit))
		}
	}
	if why != nil {
		fmt.Fprintf(b, "What limits those not met:\n\n%s\n", strings.Join(why, ""))
	}
}

func (g goalRecord) median() string {
	if g.Measured == nil {
		return "not: " + g.Missing
	}
	return g.goal.show(g.Measured.Median)
}

func (g goalRecord) quartiles() string {
	if g.Measured == nil {
		return ""
	}
	return g.goal.show(g.Measured.Low) + " - " + g.goal.show(g.Measured.High)
}

func (p *page) met() int {
	n := 0
	for _, g := range p.Goals {
		if g.Met {
			n++
		}
	}
	return n
}

func (p *page) markdownTable(b *bytes.Buffer) {
	b.WriteString("## Times\n\nOn one thread by the time that the process had the processor, on two by the clock on the wall.\n\n")
	b.WriteString("| workload | threads | contender | ms | quartiles | Gram is | rounds |\n|---|---:|---|---:|---:|---:|---:|\n")
	for _, r := range p.Workloads {
		title, threads := r.Title, fmt.Sprint(r.Threads)
		for _, e := range r.Entries {
			lead := ""
			if e.Lead != nil {
				lead = fmt.Sprintf("%.2fx", e.Lead.Median)
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s - %s | %s | %d |\n", title, threads, e.Name,
				measure.Digits(e.Milliseconds.Median),
				measure.Digits(e.Milliseconds.Low), measure.Digits(e.Milliseconds.High), lead, len(e.Samples))
			title, threads = "", ""
		}
	}
}

// print tells what came out, in lines of at most 80 columns.
func (r result) print(out io.Writer) {
	rec := r.record()
	fmt.Fprintf(out, "%s (threads %d)\n", rec.Title, rec.Threads)
	for _, e := range rec.Entries {
		line := fmt.Sprintf("  %-12s %8s ms", e.Name, measure.Digits(e.Milliseconds.Median))
		if e.Lead != nil {
			line += fmt.Sprintf("   Gram is %.2fx", e.Lead.Median)
		}
		fmt.Fprintln(out, line)
	}
}

// printGoals prints those not met and, on the last line, how many are.
func (p *page) printGoals(out io.Writer) {
	for _, g := range p.Goals {
		if g.Met {
			continue
		}
		fmt.Fprintf(out, "not met: %s\n    %s; %s %s\n", g.What, g.goal.asks(), g.median(), g.quartiles())
		if g.Limit != "" {
			fmt.Fprintf(out, "    %s\n", g.Limit)
		}
	}
	fmt.Fprintf(out, "bench-jobs: %d goals, %d met\n", len(p.Goals), p.met())
}
