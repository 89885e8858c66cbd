package main

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// pace says how long to measure.
type pace struct {
	budget    time.Duration // for the rounds of one workload
	minRounds int           // also if they take longer
	maxRounds int
	minSample time.Duration // a contender repeats its run to reach it
}

// result is what the contenders of a workload did.
type result struct {
	workload
	threads int
	entries []entry
}

// entry is a contender and its sample of every round.
type entry struct {
	contender
	samples []measure.Sample
}

// race runs every contender once a round, in an order that moves on by one each round,
// so that whatever disturbs the machine falls on all of them. A first round is not
// counted: it warms up, sets the repetitions and compares the checksums.
func race(w workload, threads int, contenders []contender, p pace) (result, error) {
	r := result{workload: w, threads: threads}
	times := make([]int, len(contenders))
	for i, c := range contenders {
		s, err := c.run(1)
		if err != nil {
			return r, err
		}
		times[i] = repetitions(p.minSample, s.Wall)
		r.entries = append(r.entries, entry{contender: c, samples: []measure.Sample{s}})
	}
	if err := r.agree(); err != nil {
		return r, err
	}
	for i := range r.entries {
		r.entries[i].samples = nil
	}
	runtime.GC()
	for round, start := 0, time.Now(); p.another(round, time.Since(start)); round++ {
		for i := range contenders {
			e := (i + round) % len(contenders)
			s, err := contenders[e].run(times[e])
			if err != nil {
				return r, err
			}
			r.entries[e].samples = append(r.entries[e].samples, s)
		}
	}
	return r, nil
}

// another reports whether to begin one more round.
func (p pace) another(rounds int, spent time.Duration) bool {
	return rounds < p.minRounds || rounds < p.maxRounds && spent < p.budget
}

// repetitions is how often to repeat a run that takes one for a sample of at least least.
func repetitions(least, one time.Duration) int {
	return int(min(max(1, (least+one-1)/max(one, 1)), 1_000_000))
}

// agreement is the relative difference between checksums that float32 may cause: the
// contenders add in different orders, and k-means may then move a few points.
const agreement = 1e-3

// agree returns an error if contenders computed different things.
func (r result) agree() error {
	first := -1
	for i, e := range r.entries {
		switch {
		case e.bound:
			continue
		case first < 0:
			first = i
		}
		a, b := r.entries[first].samples[0].Checksum, e.samples[0].Checksum
		if !(math.Abs(a-b) <= agreement*math.Abs(a)) {
			return fmt.Errorf("%s: %s and %s compute different things: checksums %g and %g",
				r.id, r.entries[first].name, e.name, a, b)
		}
	}
	return nil
}
