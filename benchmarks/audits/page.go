package main

import (
	"bytes"
	"fmt"

	"github.com/gram-compute/gram/benchmarks/pages"
	"github.com/gram-compute/gram/internal/measure"
)

// mostRatio is the goal: the time of a job with audits over the time of one without is at most this.
const mostRatio = 1.02

// page is what is published of a run.
type page struct {
	pages.Run
	pairs []pair
}

// goal is what the pairs of one setting measured: the ratios of their times, and the audits' shares of the workers'
// time.
type goal struct {
	setting
	ratio, share measure.Spread
}

func (g goal) met() bool { return g.ratio.Median <= mostRatio }

func (p *page) goals() (goals []goal) {
	for _, on := range settings() {
		var ratios, shares []float64
		for _, one := range p.pairs {
			if one.setting == on {
				ratios, shares = append(ratios, one.ratio()), append(shares, one.audit.share())
			}
		}
		if ratios == nil {
			continue
		}
		goals = append(goals, goal{on, measure.SpreadOf(ratios), measure.SpreadOf(shares)})
	}
	return goals
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(p.Head("Cost of audits", "make bench-audits", "audits"))
	b.WriteString("\n| job | time with audits / time without: median (quartiles) | goal | met |" +
		" audits' share of the workers' time: median |\n|---|---:|---:|---|---:|\n")
	for _, g := range p.goals() {
		met := "no"
		if g.met() {
			met = "yes"
		}
		fmt.Fprintf(&b, "| %s | %.3f (%.3f to %.3f) | at most %.2f | %s | %.2f %% |\n",
			g.setting, g.ratio.Median, g.ratio.Low, g.ratio.High, mostRatio, met, 100*g.share.Median)
	}
	b.WriteString("\n## Every pair\n\n" +
		"| job | time without | time with audits | ratio | audits | their share of the workers' time |" +
		" report waited |\n" +
		"|---|---:|---:|---:|---:|---:|---:|\n")
	for _, one := range p.pairs {
		fmt.Fprintf(&b, "| %s | %.2f s | %.2f s | %.3f | %d | %.2f %% | %.2f s |\n",
			one.setting, one.without.took.Seconds(), one.audit.took.Seconds(), one.ratio(),
			one.audit.Audit.Drawn, 100*one.audit.share(), one.audit.Audit.Waited)
	}
	return b.Bytes()
}
