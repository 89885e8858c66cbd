package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// markdown is the page as people read it.
func (p *page) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Kernels on %s\n\n", p.Machine.CPU)
	fmt.Fprintf(&b, "Written by `make bench-kernels`; [how to read it](../../README.md). %s, %s.\n\n",
		p.Started.Format("2 January 2006"), time.Duration(p.Seconds*float64(time.Second)).Round(time.Second))
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range p.Machine.Rows() {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	fmt.Fprintf(&b, "| peers | %s |\n\n", p.peers())
	b.WriteString("![GFLOP/s of X·Yᵀ against the dimension](kernels.svg)\n\n")
	p.markdownGoals(&b)
	fmt.Fprintf(&b, "## One core\n\n%s\n\n", p.noise())
	p.markdownTable(&b, func(r record) bool { return r.Threads == 1 && !r.Point })
	b.WriteString("## All cores\n\nBy the clock on the wall.\n\n")
	p.markdownScaling(&b)
	p.markdownTable(&b, func(r record) bool { return r.Threads > 1 })
	b.WriteString("## X·Yᵀ by dimension, one core\n\n")
	p.markdownTable(&b, func(r record) bool { return r.Point })
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
	fmt.Fprintf(b, "## Goals\n\nOf one core: %d of %d met. The ratio is the median of those of the rounds.\n\n",
		p.met(), len(p.Goals))
	b.WriteString("| goal | asked | stretch | measured | quartiles | met |\n|---|---:|---:|---:|---:|---|\n")
	for _, g := range p.Goals {
		stretch, measured, quartiles, met := "", "not: "+g.Missing, "", "no"
		if g.Stretch != 0 {
			stretch = g.show(g.Stretch)
		}
		if g.Measured != nil {
			measured, quartiles = g.show(g.Measured.Median), g.quartiles(*g.Measured)
		}
		if g.Met {
			met = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", g.What, g.asks(g.Least), stretch, measured, quartiles, met)
	}
	b.WriteString("\n")
	var why []string
	for _, g := range p.Goals {
		if !g.Met && g.Limit != "" {
			why = append(why, fmt.Sprintf("* %s: %s\n", g.What, g.Limit))
		}
	}
	if why != nil {
		fmt.Fprintf(b, "What limits those not met:\n\n%s\n", strings.Join(why, ""))
	}
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

func (p *page) markdownTable(b *bytes.Buffer, wanted func(record) bool) {
	b.WriteString("| workload | contender | ms a run | rate | quartiles | of its limit | Gram is | rounds |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range p.Workloads {
		if !wanted(r) {
			continue
		}
		title := r.Title
		for _, e := range r.Entries {
			fmt.Fprintf(b, "| %s | %s | %s | %s %s | %s - %s | %s | %s | %d |\n", title, e.Name,
				e.milliseconds(), measure.Digits(e.Rate.Median), e.Unit, measure.Digits(e.Rate.Low),
				measure.Digits(e.Rate.High),
				optional(e.Share, share), optional(e.Lead, ratio), len(e.Samples))
			title = ""
		}
	}
	b.WriteString("\n")
}

// milliseconds is how long a run takes; a limit's run means nothing.
func (e entryRecord) milliseconds() string {
	if e.Bound {
		return ""
	}
	return measure.Digits(e.Amount / e.Rate.Median / 1e6)
}

// noise says how much of the machine was ours while one core was measured.
func (p *page) noise() string {
	var wall, cpu time.Duration
	medians, units := map[string][]float64{}, map[string]unit{}
	for _, r := range p.Workloads {
		for _, e := range r.Entries {
			if r.Threads > 1 {
				continue
			}
			for _, s := range e.Samples {
				wall, cpu = wall+s.Wall, cpu+s.CPU
			}
			if e.Bound {
				medians[e.Name] = append(medians[e.Name], e.Rate.Median)
				units[e.Name] = e.Unit
			}
		}
	}
	var moved []string
	for _, name := range slices.Sorted(maps.Keys(medians)) {
		moved = append(moved, fmt.Sprintf("%s %s to %s %s", name,
			measure.Digits(slices.Min(medians[name])), measure.Digits(slices.Max(medians[name])), units[name]))
	}
	return fmt.Sprintf("By the time that the process had the processor: %.0f %% of the time on the wall.\n"+
		"The limits' medians, over the workloads: %s.\nThe closer together, the quieter the machine was.",
		100*float64(cpu)/float64(wall), strings.Join(moved, ", "))
}

func optional(s *measure.Spread, f figure) string {
	if s == nil {
		return ""
	}
	return f.show(s.Median)
}
