package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// spec is of a job whose input nobody reads.
const spec = `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":%q},"spec":{
	"input":{"uri":"file:///nowhere/x.tsv","format":"tsv","label":1,"text":2},"output":{},"run":{"priority":%d}}}`

// liveJob is the job that is watched; it is served first.
const liveJob = "live"

// fleet is workers that live and compute nothing. Two of them do the leaves of the live job, at a steady pace.
type fleet struct {
	m       *member
	load    load
	stop    context.CancelFunc
	running sync.WaitGroup
	mu      sync.Mutex
	fault   error
	planned chan struct{} // closed when the live job has its leaves

	sawLeaves sync.Once
}

// fill submits the jobs, registers the workers, and waits until the live job runs.
func fill(ctx context.Context, m *member, l load) (*fleet, error) {
	began := time.Now()
	if err := submit(ctx, m, l); err != nil {
		return nil, err
	}
	fmt.Printf("%d jobs in %v\n", l.jobs, time.Since(began).Round(time.Millisecond))
	life, stop := context.WithCancel(ctx)
	f := &fleet{m: m, load: l, stop: stop, planned: make(chan struct{})}
	sets := []string{"avx512-vnni", "avx512", "avx2", "neon"}
	for n := range l.workers {
		secret := make([]byte, 32)
		rand.Read(secret) // never fails
		id := protocol.WorkerID(secret)
		slots := uint32(4)
		if n < working {
			slots = 256
		}
		if _, err := m.workers.Register(ctx, connect.NewRequest(&pb.RegisterRequest{WorkerId: id, Secret: secret,
			Name: fmt.Sprint("w", n), Slots: slots, Kernels: sets[n%len(sets)], Build: "bench"})); err != nil {
			stop()
			return nil, fmt.Errorf("register worker %d: %w", n, err)
		}
		f.running.Go(func() { f.beat(life, id, secret) })
		if n < working {
			f.running.Go(func() { f.work(life, id, secret) })
		}
	}
	select {
	case <-f.planned:
		return f, nil
	case <-time.After(patience):
		return f, errors.Join(errors.New("the live job was not planned in a minute"), f.dismiss())
	}
}

// submit makes the jobs: the live one first, so that it runs, then those that end at once, and those that wait.
func submit(ctx context.Context, m *member, l load) error {
	one := func(id, name string, priority int) error {
		_, err := m.jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id,
			SpecJson: fmt.Sprintf(spec, name, priority)}))
		return err
	}
	if err := one(liveJob, "a million leaves", 100); err != nil {
		return err
	}
	ended := l.jobs - l.active + 1 // the live one has not
	err := each(1, ended, func(n int) error {
		id := fmt.Sprint("job-", n)
		if err := one(id, fmt.Sprint("topics of day ", n), 0); err != nil {
			return err
		}
		_, err := m.jobs.Cancel(ctx, connect.NewRequest(&pb.CancelRequest{Id: id}))
		return err
	})
	if err != nil {
		return err
	}
	return each(ended, l.jobs, func(n int) error {
		return one(fmt.Sprint("job-", n), fmt.Sprint("topics of day ", n), 0)
	})
}

// atATime is how many calls are made at a time: the log takes those that wait together.
const atATime = 128

// each does something for each number from one to another, many at a time. It returns a fault.
func each(from, to int, do func(n int) error) error {
	var wait sync.WaitGroup
	var next atomic.Int64
	next.Store(int64(from))
	faults := make(chan error, atATime)
	for range cap(faults) {
		wait.Go(func() {
			for n := int(next.Add(1)) - 1; n < to; n = int(next.Add(1)) - 1 {
				if err := do(n); err != nil {
					faults <- fmt.Errorf("job %d: %w", n, err)
					return
				}
			}
		})
	}
	wait.Wait()
	select {
	case err := <-faults:
		return err
	default:
		return nil
	}
}
