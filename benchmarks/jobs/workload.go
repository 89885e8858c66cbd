package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/gram-compute/gram/benchmarks/peers"
	"github.com/gram-compute/gram/internal/measure"
)

// workload is one task that contenders do on the same data.
type workload struct {
	id      string // "operation/sizes", by which the peers know it too
	title   string // for people
	threads int
	// tolerance is how far the contenders' checksums may lie apart, as a share of them.
	tolerance float64
	// open makes Gram's contender, and what ends it.
	open func(ctx context.Context, e env) (contender, func() error, error)
}

// env is what contenders are made from.
type env struct{ options }

// contender does the task of a workload in its own way, once a run.
type contender struct {
	name string
	run  func() (measure.Sample, error)
}

// entry is a contender and its sample of every round.
type entry struct {
	name    string
	samples []measure.Sample
}

// result is what the contenders of a workload did.
type result struct {
	workload
	entries []entry
}

// ours is Gram among the contenders; the peers have names of their own.
const ours = "gram"

// nothing is to be ended.
func nothing() error { return nil }

// measure brings the contenders of a workload together and runs every one once a round, in an order that moves
// on by one each round. A first round is not counted: it warms up and compares the checksums.
func (w workload) measure(ctx context.Context, e env, others *peers.Process) (r result, err error) {
	r.workload = w
	own, end, err := w.open(ctx, e)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, others.Drop(), end()) }()
	contenders := []contender{own}
	names, err := others.Prepare(w.id, e.seed)
	if err != nil {
		return r, err
	}
	for _, name := range names {
		contenders = append(contenders, contender{name, func() (measure.Sample, error) { return others.Run(name, 1) }})
	}
	r.entries = make([]entry, len(contenders))
	for round := range e.rounds + 1 {
		for i := range contenders {
			c := (i + round) % len(contenders)
			if err := r.sample(ctx, c, contenders[c]); err != nil {
				return r, err
			}
		}
	}
	if err := r.agree(); err != nil {
		return r, err
	}
	for i := range r.entries {
		r.entries[i].samples = r.entries[i].samples[1:]
	}
	return r, nil
}

func (r *result) sample(ctx context.Context, i int, c contender) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	runtime.GC()
	s, err := c.run()
	if err != nil {
		return fmt.Errorf("%s: %s: %w", r.id, c.name, err)
	}
	r.entries[i].name = c.name
	r.entries[i].samples = append(r.entries[i].samples, s)
	return nil
}

// agree returns an error if contenders computed different things, in any round.
func (r result) agree() error {
	want := r.entries[0].samples[0].Checksum
	for _, e := range r.entries {
		for _, s := range e.samples {
			if !(math.Abs(s.Checksum-want) <= r.tolerance*math.Abs(want)) {
				return fmt.Errorf("%s: %s and %s compute different things: %v and %v", r.id, r.entries[0].name, e.name,
					want, s.Checksum)
			}
		}
	}
	return nil
}

// took is what a sample counts by: on one thread the time that the process had a processor, so that others on
// the machine do not count; on more the clock on the wall.
func (r result) took(s measure.Sample) time.Duration {
	if r.threads == 1 {
		return s.CPU
	}
	return s.Wall
}

// seconds are those of all rounds.
func (r result) seconds(e entry) []float64 {
	all := make([]float64, len(e.samples))
	for i, s := range e.samples {
		all[i] = r.took(s).Seconds()
	}
	return all
}

// ratios are, round by round, another contender's time over Gram's.
func (r result) ratios(other entry) []float64 {
	mine, theirs := r.seconds(r.entries[0]), r.seconds(other)
	for i := range theirs {
		theirs[i] /= mine[i]
	}
	return theirs
}

// find returns the entry of that name, and whether it ran.
func (r result) find(name string) (entry, bool) {
	for _, e := range r.entries {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}
