package main

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/internal/machine"
)

// row is one thing and what was measured of it; nothing if it was not reported.
type row struct {
	what, unit string
	values     []float64
}

// page is what a run found.
type page struct {
	machine machine.Machine
	started time.Time
	rows    []row
}

// add takes rows over and prints them, in lines of at most 80 columns.
func (p *page) add(rows ...row) {
	p.rows = append(p.rows, rows...)
	for _, r := range rows {
		fmt.Printf("%-58s %s\n", r.what, r.figure())
	}
}

// figure is the median and its unit.
func (r row) figure() string {
	if len(r.values) == 0 {
		return "not measured"
	}
	return digits(r.median()) + " " + r.unit
}

// median is that of the values; of an even number the lower middle.
func (r row) median() float64 {
	sorted := slices.Sorted(slices.Values(r.values))
	return sorted[(len(sorted)-1)/2]
}

func (r row) extremes() string {
	if len(r.values) < 2 {
		return ""
	}
	return digits(slices.Min(r.values)) + " - " + digits(slices.Max(r.values))
}

func digits(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func (p *page) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# First light on %s\n\n", p.machine.CPU)
	fmt.Fprintf(&b, "Written by `make bench-first-light`; [how to read it](../../README.md). %s.\n\n",
		p.started.Format("2 January 2006"))
	b.WriteString("| | |\n|---|---|\n")
	for _, r := range p.machine.Rows() {
		fmt.Fprintf(&b, "| %s | %s |\n", r[0], r[1])
	}
	b.WriteString("\nBy the clock on the wall.\n\n| what | median | smallest and largest | times |\n|---|---:|---:|---:|\n")
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", r.what, r.figure(), r.extremes(), len(r.values))
	}
	return b.Bytes()
}
