package main

import (
	"bytes"
	"fmt"
)

// markdownScaling tells the rates on all cores over those on one, if both were measured. They were in
// different rounds, so the ratio is that of the medians.
func (p *page) markdownScaling(b *bytes.Buffer) {
	one := map[[2]string]entryRecord{}
	for _, r := range p.Workloads {
		for _, e := range r.Entries {
			if r.Threads == 1 {
				one[[2]string{r.ID, e.Name}] = e
			}
		}
	}
	var rows bytes.Buffer
	for _, r := range p.Workloads {
		for _, e := range r.Entries {
			alone, ok := one[[2]string{r.ID, e.Name}]
			if r.Threads > 1 && ok {
				fmt.Fprintf(&rows, "| %s | %s | %d | %s |\n", r.Title, e.Name, r.Threads,
					ratio.show(e.Rate.Median/alone.Rate.Median))
			}
		}
	}
	if rows.Len() == 0 {
		return
	}
	b.WriteString("| workload | contender | cores | of one core's rate |\n|---|---|---:|---:|\n")
	b.Write(rows.Bytes())
	b.WriteString("\n")
}
