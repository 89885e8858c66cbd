package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
	"github.com/gram-compute/gram/internal/measure"
)

// The goals.
const (
	leastRate = 10_000                 // committed nodes in a second
	mostLease = 100 * time.Millisecond // p99
	mostIdle  = 0.005                  // of a processor
)

// page is what is published of a run.
type page struct {
	pages.Run
	load    load
	jobs    []result
	idleFor time.Duration
	idle    []idler
}

// row is a figure of the page; goal is empty where there is none.
type row struct {
	name, goal, measured string
	met                  bool
}

func (p *page) spread(of func(result) float64) measure.Spread {
	var all []float64
	for _, r := range p.jobs {
		all = append(all, of(r))
	}
	return measure.SpreadOf(all)
}

func words(s measure.Spread, unit string) string {
	return fmt.Sprintf("%s %s (%s to %s)", measure.Digits(s.Median), unit, measure.Digits(s.Low),
		measure.Digits(s.High))
}

func (p *page) rows() (rows []row) {
	figure := func(unit string, of func(result) float64) string { return words(p.spread(of), unit) }
	if len(p.jobs) > 0 {
		rate, lease := p.spread(result.rate), p.spread(func(r result) float64 { return ms(r.quantile(0.99)) })
		rows = append(rows,
			row{"committed nodes", fmt.Sprintf("at least %d/s", leastRate), words(rate, "/s"),
				rate.Median >= leastRate},
			row{"leases, p99", fmt.Sprintf("at most %d ms", mostLease.Milliseconds()), words(lease, "ms"),
				lease.Median <= ms(mostLease)},
			row{name: "leases, p50", measured: figure("ms", func(r result) float64 { return ms(r.quantile(0.5)) })},
			row{name: "the slowest lease", measured: figure("ms", func(r result) float64 { return ms(r.quantile(1)) })},
			row{name: "the rounds", measured: figure("s", func(r result) float64 { return r.round.Seconds() })},
			row{name: "committed leaves", measured: figure("/s", func(r result) float64 {
				return float64(r.leaves) / r.round.Seconds()
			})},
			row{name: "nodes of a job", measured: figure("", func(r result) float64 { return float64(r.nodes) })},
			row{name: "the coordinator, of a processor, a job",
				measured: figure("s", func(r result) float64 { return r.coordinator.Seconds() })})
	}
	for _, i := range p.idle {
		name := "idle follower " + i.member
		if i.leader {
			name = "idle leader " + i.member
		}
		rows = append(rows, row{name, fmt.Sprintf("at most %.1f %% of a core", 100*mostIdle),
			fmt.Sprintf("%.2f %%", 100*i.share), i.share <= mostIdle})
	}
	return rows
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (p *page) summary() string {
	var b strings.Builder
	goals, met := 0, 0
	for _, r := range p.rows() {
		fmt.Fprintf(&b, "%-40s %s\n", r.name, r.measured)
		if r.goal != "" {
			goals++
			if r.met {
				met++
			}
		}
	}
	fmt.Fprintf(&b, "bench-control: %d goals, %d met\n", goals, met)
	return b.String()
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(p.Head("The control plane", "make bench-control", "control"))
	fmt.Fprintf(&b, "\nOne coordinator, and %d workers with %d slots in one other process, each over a TLS connection "+
		"of its own. %d jobs, one at a time, of one round of %d leaves; the tasks take no time. Medians of the jobs, "+
		"with the quartiles. The idle cluster of three was watched for %v.\n\n", p.load.workers, p.load.slots,
		len(p.jobs), p.load.leaves, p.idleFor)
	b.WriteString("| | goal | measured | met |\n|---|---:|---:|---|\n")
	for _, r := range p.rows() {
		met := ""
		if r.goal != "" {
			met = "no"
		}
		if r.goal != "" && r.met {
			met = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, r.goal, r.measured, met)
	}
	b.WriteString("\n## Every job\n\n")
	for _, r := range p.jobs {
		fmt.Fprintf(&b, "* %s\n", r)
	}
	return b.Bytes()
}
