package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// job is never worked on: there is no worker.
const job = `{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":"failover"},"spec":{
	"input":{"uri":"file:///nowhere/x.tsv","format":"tsv","label":1,"text":2},"output":{},"run":{}}}`

const (
	// callLimit is how long the writer waits for an answer before it asks the next member.
	callLimit = 2 * time.Second
	// writePause is between a write and the next, and between a refusal and the next attempt.
	writePause = 10 * time.Millisecond
)

// writer is one client that keeps writing: job after job, each until some member accepts it.
type writer struct {
	members []*member
	at      int // the member it calls

	mu       sync.Mutex
	accepted chan time.Time // wanted: the end of the first write that began after since
	since    time.Time
	writes   int
}

// run writes until ctx ends.
func (w *writer) run(ctx context.Context) {
	pause := time.NewTicker(writePause)
	defer pause.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		id, began := fmt.Sprintf("w%d", n), time.Now()
		for !w.submit(ctx, id) {
			w.at = (w.at + 1) % len(w.members)
			select {
			case <-pause.C:
			case <-ctx.Done():
				return
			}
			began = time.Now()
		}
		w.note(began, time.Now())
		w.cancel(ctx, id) // or they would become too many
		<-pause.C
	}
}

func (w *writer) submit(ctx context.Context, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	_, err := w.members[w.at].jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: job}))
	return err == nil
}

func (w *writer) cancel(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	// one that stays does no harm
	_, _ = w.members[w.at].jobs.Cancel(ctx, connect.NewRequest(&pb.CancelRequest{Id: id}))
}

// note takes an accepted write into account. The attempt that was accepted must have begun after the kill.
func (w *writer) note(began, ended time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.accepted != nil && began.After(w.since) {
		w.accepted <- ended
		w.accepted = nil
	}
}

// after yields the time at which the first write that began after since was accepted.
func (w *writer) after(since time.Time) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.accepted = since, make(chan time.Time, 1)
	return w.accepted
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes
}
