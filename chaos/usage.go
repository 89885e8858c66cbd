package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gram-compute/gram/chaos/cluster"
	"gonum.org/v1/gonum/stat"
)

const (
	usageEvery = 10 * time.Second
	// grown is the age from which a process's memory counts: before, it still fills its caches.
	grown = time.Minute
	// settled is when memory no longer follows the start of the run: what rises until then is shown, and left out in
	// a figure of its own.
	settled = 20 * time.Minute
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

// sampleUsage notes what each process takes, once the cluster retires as many jobs as it gets.
func (t *trial) sampleUsage() {
	at := time.Since(t.began)
	if at < t.keep {
		return
	}
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

// blocks is the number of blocks into which a role's samples are cut. A line is fitted to the blocks' medians, so that
// one peak moves it little.
const blocks = 24

// after returns the samples from a time of the run on; they are in its order.
func after(samples []sample, from time.Duration) []sample {
	first := sort.Search(len(samples), func(i int) bool { return samples[i].at >= from })
	return samples[first:]
}

// trend is how a quantity went.
type trend struct {
	samples            int
	first, last        float64 // medians of the first and the last quarter of the samples
	perHour, plusMinus float64 // the change in an hour, as a share of the beginning, and its standard error
}

func trendOf(samples []sample, of func(sample) float64) (trend, bool) {
	n := len(samples) / 4
	if n < blocks {
		return trend{}, false
	}
	tr := trend{samples: len(samples), first: median(samples[:n], of), last: median(samples[len(samples)-n:], of)}
	var hours, medians []float64
	for i := range blocks {
		block := samples[i*len(samples)/blocks : (i+1)*len(samples)/blocks]
		hours, medians = append(hours, median(block, hoursOf)), append(medians, median(block, of))
	}
	begin, slope := stat.LinearRegression(hours, medians, nil, false)
	if hours[blocks-1] <= hours[0] || begin <= 0 {
		return trend{}, false
	}
	off := 0.0
	for i, h := range hours {
		d := medians[i] - (begin + slope*h)
		off += d * d
	}
	_, spread := stat.MeanVariance(hours, nil)
	tr.perHour = slope / begin
	tr.plusMinus = math.Sqrt(off/(blocks-2)/(spread*(blocks-1))) / begin
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
	p.line("\n%-13s %-11s %7s  %13s %12s  %-15s  %s", "PROCESSES", "HAVE", "SAMPLES", "FIRST QUARTER", "LAST QUARTER",
		"AN HOUR", fmt.Sprintf("AFTER %.0f MINUTES", settled.Minutes()))
	for _, role := range []string{"coordinators", "workers"} {
		p.trend(role, "memory", u[role], func(s sample) float64 { return s.memory },
			func(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes/(1<<20)) })
		p.trend(role, "descriptors", u[role], func(s sample) float64 { return s.files },
			func(n float64) string { return fmt.Sprintf("%.0f", n) })
	}
}

// trend writes how a quantity went in the whole run, and its slope once more without the beginning.
func (p *printer) trend(role, have string, samples []sample, of func(sample) float64, text func(float64) string) {
	all, ok := trendOf(samples, of)
	if !ok {
		p.line("%-13s %-11s not measured: %d samples", role, have, len(samples))
		return
	}
	later := "not measured"
	if t, ok := trendOf(after(samples, settled), of); ok {
		later = t.slope()
	}
	p.line("%-13s %-11s %7d  %13s %12s  %-15s  %s", role, have, all.samples, text(all.first), text(all.last),
		all.slope(), later)
}

func (t trend) slope() string {
	return fmt.Sprintf("%+.1f%% ± %.1f%%", 100*t.perHour, 100*t.plusMinus)
}
