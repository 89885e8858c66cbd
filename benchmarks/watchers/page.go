package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

// mostPaint is the goal for the first paint.
const mostPaint = 200 * time.Millisecond

// page is what is published of a run.
type page struct {
	pages.Run
	load    load
	times   []pageTime
	paints  []painted
	watches []watched
}

// row is a figure of the page; goal is empty where there is none.
type row struct {
	name, goal, measured string
	met                  bool
}

func (p *page) rows() (rows []row) {
	for _, f := range p.paints {
		median := quantile(f.first, 0.5)
		rows = append(rows, row{"first paint of `" + f.path + "`",
			fmt.Sprintf("at most %d ms", mostPaint.Milliseconds()),
			fmt.Sprintf("%.0f ms; p99 %.0f ms", ms(median), ms(quantile(f.first, 0.99))), median <= mostPaint})
	}
	base := p.base()
	for _, w := range p.watches {
		r := row{name: w.name, measured: fmt.Sprintf("%.2f %% of a core", 100*w.share)}
		if len(w.paths) > 0 {
			r.measured = fmt.Sprintf("%.2f %% of a core more than nobody", 100*(w.share-base))
		}
		if w.goal > 0 {
			r.goal, r.met = fmt.Sprintf("at most %.0f %%", 100*w.goal), w.share-base <= w.goal
		}
		rows = append(rows, r)
	}
	return rows
}

// base is what the leader takes while nobody looks: the mean of before and after.
func (p *page) base() float64 {
	sum, count := 0.0, 0
	for _, w := range p.watches {
		if len(w.paths) == 0 {
			sum, count = sum+w.share, count+1
		}
	}
	return sum / float64(max(1, count))
}

func (p *page) summary() string {
	var b strings.Builder
	goals, met := 0, 0
	for _, r := range p.rows() {
		fmt.Fprintf(&b, "%-52s %s\n", r.name, r.measured)
		if r.goal != "" {
			goals++
			if r.met {
				met++
			}
		}
	}
	fmt.Fprintf(&b, "bench-pages: %d goals, %d met\n", goals, met)
	return b.String()
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	b.WriteString(p.Head("The live pages", "make bench-pages", "pages"))
	fmt.Fprintf(&b, "\nOne coordinator with %d jobs, %d of them not ended, and %d workers, of which two do %d leaves "+
		"a second of a job of %d. Shares are of one core, of the coordinator's process; each group looked for %v.\n\n",
		p.load.jobs, p.load.active, p.load.workers, p.load.rate, p.load.leaves, p.load.watched)
	b.WriteString("| | goal | measured | met |\n|---|---:|---:|---|\n")
	for _, r := range p.rows() {
		met := ""
		if r.goal != "" {
			met = map[bool]string{true: "yes", false: "no"}[r.met]
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, r.goal, r.measured, met)
	}
	fmt.Fprintf(&b, "\n## To the last byte\n\nEach page was asked for %d times over one connection with TLS.\n\n"+
		"| page | p50 | p99 | bytes | processor of the leader |\n|---|---:|---:|---:|---:|\n", p.load.asks)
	for _, t := range p.times {
		fmt.Fprintf(&b, "| `%s` | %.1f ms | %.1f ms | %d | %.1f ms |\n", t.path, ms(quantile(t.took, 0.5)),
			ms(quantile(t.took, 0.99)), t.bytes, ms(t.leader))
	}
	b.WriteString("\n## What was sent\n\n| watchers | pieces | bytes |\n|---|---:|---:|\n")
	for _, w := range p.watches {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", w.name, w.pieces, w.bytes)
	}
	return b.Bytes()
}
