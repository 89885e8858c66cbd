package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gram-compute/gram/internal/limits"
	"github.com/gram-compute/gram/internal/measure"
	"github.com/gram-compute/gram/kernelops"
)

// Pace says how long to measure.
type Pace struct {
	OneCore, AllCores, Jobs time.Duration
	Sample                  time.Duration // a run shorter than this is repeated
	Rounds                  int           // of each, at least
}

// Full and Short are the paces of the command.
var (
	Full = Pace{OneCore: 25 * time.Second, AllCores: 9 * time.Second, Jobs: 20 * time.Second,
		Sample: 10 * time.Millisecond, Rounds: 3}
	Short = Pace{OneCore: 2 * time.Second, AllCores: time.Second, Jobs: 2 * time.Second,
		Sample: 5 * time.Millisecond, Rounds: 1}
)

// raced is a workload and its samples, one for each round.
type raced struct {
	workload
	samples []measure.Sample
	sum     string
}

// race runs every workload once a round, in an order that moves on by one each round, so that what disturbs the
// machine disturbs all of them. A first round is not counted: it warms up and sets the repetitions.
func race(ctx context.Context, all []workload, budget time.Duration, p Pace) ([]raced, error) {
	found, times := make([]raced, len(all)), make([]int, len(all))
	for i, w := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		once := measure.Timed(w.run, 1)
		times[i] = int(max(1, p.Sample/max(once.Wall, 1)))
		found[i].workload = w
		if w.digest != nil {
			found[i].sum = w.digest()
		}
	}
	runtime.GC()
	for round, start := 0, time.Now(); round < p.Rounds || time.Since(start) < budget; round++ {
		for i := range found {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f := &found[(i+round)%len(found)]
			f.samples = append(f.samples, measure.Timed(f.run, times[(i+round)%len(found)]))
		}
	}
	for _, f := range found {
		if f.digest != nil && f.digest() != f.sum {
			return nil, fmt.Errorf("%s: two runs on the same data gave different results", f.title)
		}
	}
	return found, nil
}

// rates are those of the rounds. On one thread the clock is the time that it had a processor.
func (r raced) rates(threads int) []float64 {
	all := make([]float64, len(r.samples))
	for i, s := range r.samples {
		took := s.CPU
		if threads > 1 || took <= 0 {
			took = s.Wall
		}
		all[i] = r.amount * float64(s.Times) / float64(max(took, 1).Nanoseconds())
	}
	return all
}

// Machine measures the limits of this machine and the kernels of a set.
func Machine(ctx context.Context, set *kernelops.Set, p Pace) (rows []Row, share float64, err error) {
	one, err := oneCore(ctx, set, p)
	if err != nil {
		return nil, 0, err
	}
	rows, share = rowsOf(one), shareOf(one)
	threads := runtime.GOMAXPROCS(0)
	if threads == 1 {
		return rows, share, nil
	}
	all, err := onCores(ctx, set, threads, p.AllCores, p)
	if err != nil {
		return nil, 0, err
	}
	return rows, share, join(rows, all, threads)
}

// join adds the rates on all cores. What the rows compute does not depend on the number of threads.
func join(rows []Row, all []raced, threads int) error {
	for i := range rows {
		for _, r := range all {
			if r.id != rows[i].ID {
				continue
			}
			if r.sum != rows[i].Digest {
				return fmt.Errorf("%s: one thread and %d computed different things: %s and %s", r.title, threads,
					rows[i].Digest, r.sum)
			}
			spread := measure.SpreadOf(r.rates(threads))
			rows[i].AllCores = &spread
		}
	}
	return nil
}

// oneCore measures on one processor, to which the calling thread is bound.
func oneCore(ctx context.Context, set *kernelops.Set, p Pace) (found []raced, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	undo, err := measure.BindLast()
	if err != nil {
		undo = func() error { return nil } // where the system forbids it, rounds differ more
	}
	procs := runtime.GOMAXPROCS(1)
	defer func() {
		runtime.GOMAXPROCS(procs)
		err = errors.Join(err, undo())
	}()
	return onCores(ctx, set, 1, p.OneCore, p)
}

func onCores(ctx context.Context, set *kernelops.Set, threads int, budget time.Duration, p Pace) (
	found []raced, err error) {
	memory := new(limits.Memory)
	defer func() { err = errors.Join(err, memory.Free()) }()
	all := append(bounds(set, memory, threads), kernels(set, memory, threads)...)
	return race(ctx, all, budget, p)
}

// rowsOf are the figures on one core.
func rowsOf(found []raced) []Row {
	byID := map[string][]float64{}
	var rows []Row
	for _, r := range found {
		rates := r.rates(1)
		byID[r.id] = rates
		row := Row{ID: r.id, Title: r.title, Unit: r.unit, OneCore: measure.SpreadOf(rates), Digest: r.sum}
		if limit, ok := byID[r.of]; ok {
			ratios := make([]float64, len(rates))
			for i := range rates {
				ratios[i] = rates[i] / limit[i]
			}
			share := measure.SpreadOf(ratios).Median
			row.Share, row.Of = &share, r.of
		}
		rows = append(rows, row)
	}
	return rows
}

// shareOf is the part of the wall clock for which the process had a processor.
func shareOf(found []raced) float64 {
	var wall, cpu time.Duration
	for _, r := range found {
		for _, s := range r.samples {
			wall, cpu = wall+s.Wall, cpu+s.CPU
		}
	}
	return min(1, cpu.Seconds()/max(wall.Seconds(), 1e-9))
}

// onThreads runs f(0) to f(n-1) at once and waits for them.
func onThreads(n int, f func(t int)) {
	if n == 1 {
		f(0)
		return
	}
	var all sync.WaitGroup
	for t := range n {
		all.Go(func() { f(t) })
	}
	all.Wait()
}

// digestOf is SHA-256 over slices of numbers, whole numbers as 64 bits, little endian.
func digestOf(results ...any) string {
	h := sha256.New()
	for _, r := range results {
		if ids, ok := r.([]int); ok {
			wide := make([]int64, len(ids))
			for i, id := range ids {
				wide[i] = int64(id)
			}
			r = wide
		}
		if err := binary.Write(h, binary.LittleEndian, r); err != nil {
			panic(err) // the types are fixed
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
