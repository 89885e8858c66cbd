package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gram-compute/gram/chaos/cluster"
)

const (
	usageEvery = 10 * time.Second
	// grown is the age from which a process's memory counts: before, it still fills its caches.
	grown = time.Minute
)

// usage is what coordinators and workers took of the machine, over a run.
type usage map[string][]sample // by role

type sample struct {
	at            time.Duration
	memory, files float64
}

// watchUsage takes samples until the context ends.
func (t *trial) watchUsage(ctx context.Context) {
	ticker := time.NewTicker(usageEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.sampleUsage()
		case <-ctx.Done():
			return
		}
	}
}

func (t *trial) sampleUsage() {
	at := time.Since(t.began)
	workers := make(map[*cluster.Process]bool)
	for _, w := range t.cluster.Workers {
		workers[w.Process] = true
	}
	for _, p := range t.cluster.Processes() {
		role := "coordinators"
		if workers[p] {
			role = "workers"
		}
		if u, known := p.Usage(); known && u.Age >= grown {
			t.usage[role] = append(t.usage[role], sample{at, float64(u.Memory), float64(u.Files)})
		}
	}
}

// trend is how a quantity went, from the median of the first quarter of the samples to that of the last.
type trend struct {
	samples     int
	first, last float64
	perHour     float64 // the change in an hour, as a share of first
}

func trendOf(samples []sample, of func(sample) float64) (trend, bool) {
	n := len(samples) / 4
	if n < 4 {
		return trend{}, false
	}
	early, late := samples[:n], samples[len(samples)-n:]
	tr := trend{samples: len(samples), first: median(early, of), last: median(late, of)}
	hours := (median(late, hoursOf) - median(early, hoursOf))
	if tr.first <= 0 || hours <= 0 {
		return trend{}, false
	}
	tr.perHour = (tr.last - tr.first) / tr.first / hours
	return tr, true
}

func hoursOf(s sample) float64 { return s.at.Hours() }

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, 0, len(samples))
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.SortFunc(values, cmp.Compare[float64])
	return values[len(values)/2]
}

// showUsage writes the trends of a run.
func (p *printer) showUsage(u usage) {
	p.line("\n%-14s %-12s %8s %12s %12s %9s", "PROCESSES", "OF THEIR OWN", "SAMPLES", "FIRST QUARTER", "LAST QUARTER", "AN HOUR")
	for _, role := range []string{"coordinators", "workers"} {
		memory, ok := trendOf(u[role], func(s sample) float64 { return s.memory })
		files, _ := trendOf(u[role], func(s sample) float64 { return s.files })
		if !ok {
			p.line("%-14s not measured: %d samples", role, len(u[role]))
			continue
		}
		p.line("%-14s %-12s %8d %13s %12s %+8.1f%%", role, "memory", memory.samples, mib(memory.first), mib(memory.last), 100*memory.perHour)
		p.line("%-14s %-12s %8d %13.0f %12.0f %+8.1f%%", role, "descriptors", files.samples, files.first, files.last, 100*files.perHour)
	}
}

func mib(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes/(1<<20)) }
