package api

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// segmentLists are what the store has of the logs of jobs, for all who follow them: a long job has thousands of
// segments, and a list of them may be many calls of the store.
type segmentLists struct {
	mu sync.Mutex
	of map[string]*segmentList // by job
}

// segmentList is one such list. Its turn is held by the call that makes it anew.
type segmentList struct {
	turn chan struct{}
	used time.Time // guarded by that of segmentLists
	at   time.Time // when it was begun
	took time.Duration
	all  []objstore.Info
}

// forgetListing is when a list goes that nobody asked for.
const forgetListing = time.Minute

// get returns what the log of a job has, as it was at most some time ago, and how long it took to find out.
func (l *segmentLists) get(
	ctx context.Context, store objstore.Store, jobID string, age time.Duration,
) ([]objstore.Info, time.Duration, error) {
	e := l.entry(jobID)
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
	defer func() { <-e.turn }()
	if age > 0 && time.Since(e.at) < age {
		return e.all, e.took, nil
	}
	began, all := time.Now(), []objstore.Info(nil)
	for info, err := range store.List(ctx, protocol.LogPrefix(jobID)) {
		if err != nil {
			return nil, 0, fmt.Errorf("list log segments: %w", err)
		}
		all = append(all, info)
	}
	e.at, e.took, e.all = began, time.Since(began), all
	return e.all, e.took, nil
}

func (l *segmentLists) entry(jobID string) *segmentList {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(l.of, func(_ string, e *segmentList) bool { return now.Sub(e.used) > forgetListing })
	e := l.of[jobID]
	if e == nil {
		if l.of == nil {
			l.of = make(map[string]*segmentList)
		}
		e = &segmentList{turn: make(chan struct{}, 1)}
		l.of[jobID] = e
	}
	e.used = now
	return e
}
