package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/gram-compute/gram/benchmarks/machine"
	"github.com/gram-compute/gram/benchmarks/measure"
)

// page is what is published of a run.
type page struct {
	machine       machine.Machine
	started       time.Time
	took          time.Duration
	before, after string // the machine's load
	pairs         []pair
}

// goal is a ratio with its bound.
type goal struct {
	name            string
	asked, measured float64
}

func (g goal) met() bool { return g.measured <= g.asked }

// spread is that of a figure of the pairs on so many workers.
func (p *page) spread(workers int, figure func(pair) float64) measure.Spread {
	var all []float64
	for _, one := range p.pairs {
		if one.workers == workers {
			all = append(all, figure(one))
		}
	}
	return measure.SpreadOf(all)
}

func (p *page) goals() (goals []goal) {
	for _, workers := range []int{2, 4} {
		goals = append(goals, goal{fmt.Sprintf("%d workers", workers), 1.02, p.spread(workers, pair.ratio).Median})
	}
	return goals
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Cost of audits on %s\n\n", p.machine.CPU)
	fmt.Fprintf(&b, "Written by `make bench-audits`; [how to read it](../../README.md#audits). %s, %s.\n\n", p.started.Format("2 January 2006"), p.took.Round(time.Second))
	b.WriteString("| | |\n|---|---|\n")
	for _, r := range append(p.machine.Rows(), [2]string{"load before and after", p.before + "; " + p.after}) {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	b.WriteString("\n| | time with audits over time without: median (quartiles) | goal | met | share of the workers' time |\n|---|---:|---:|---|---:|\n")
	for i, workers := range []int{2, 4} {
		ratio, share := p.spread(workers, pair.ratio), p.spread(workers, func(one pair) float64 { return one.audit.share() })
		met := "no"
		if p.goals()[i].met() {
			met = "yes"
		}
		fmt.Fprintf(&b, "| %d workers | %.3f (%.3f to %.3f) | at most 1.02 | %s | %.2f %% |\n", workers, ratio.Median, ratio.Low, ratio.High, met, 100*share.Median)
	}
	b.WriteString("\n## Every pair\n\n| workers | without | with audits | ratio | audits | of the workers' time | the report waited |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, one := range p.pairs {
		fmt.Fprintf(&b, "| %d | %.2f s | %.2f s | %.3f | %d | %.2f %% | %.2f s |\n", one.workers, one.without.took.Seconds(), one.audit.took.Seconds(), one.ratio(),
			one.audit.Audit.Drawn, 100*one.audit.share(), one.audit.Audit.Waited)
	}
	return b.Bytes()
}
