package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gram-compute/gram/chaos/checker"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	// leastKeep is longer than any fault lasts, and than clients may need to see that a job has ended.
	leastKeep = 2 * time.Minute
	// listEvery is the time between two lists of all jobs: several while a job is kept.
	listEvery = 15 * time.Second
)

// archive remembers every job that a list has told of: the cluster retires jobs while the run goes on.
type archive struct {
	asked time.Time // when the list before was asked for, or when the run began
	seen  map[string]*checker.Sighting
}

// add notes a list of all jobs, by when it was asked for and when it was read.
func (a *archive) add(jobs []*pb.Job, asked, read time.Time) {
	listed := make(map[string]bool, len(jobs))
	for _, job := range jobs {
		id := job.GetId()
		listed[id] = true
		s := a.seen[id]
		if s == nil {
			s = &checker.Sighting{Open: a.asked} // it was not there, or not in its end
			a.seen[id] = s
		}
		s.Job = job
		if job.GetFinishedUnixMs() == 0 {
			s.Open = asked
		} else if s.Over.IsZero() {
			s.Over = read
		}
	}
	for id, s := range a.seen {
		if !listed[id] && s.Gone.IsZero() {
			s.Gone = read
		}
	}
	a.asked = asked
}

// sightings are all jobs in order of their ids.
func (a *archive) sightings() []checker.Sighting {
	var all []checker.Sighting
	for _, id := range slices.Sorted(maps.Keys(a.seen)) {
		all = append(all, *a.seen[id])
	}
	return all
}

// retired are the jobs that the last list did not tell of, as they were seen last.
func (a *archive) retired() []*pb.Job {
	var gone []*pb.Job
	for _, s := range a.sightings() {
		if !s.Gone.IsZero() {
			gone = append(gone, s.Job)
		}
	}
	return gone
}

// watchJobs lists the jobs until the context ends. A list that fails is asked for again at the next tick.
func (t *trial) watchJobs(ctx context.Context) {
	t.archive = &archive{asked: time.Now(), seen: make(map[string]*checker.Sighting)}
	r, release, err := t.reader()
	if err != nil {
		t.say("jobs are not watched: %v", err)
		return
	}
	defer release()
	ticker := time.NewTicker(listEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_, _ = t.listJobs(ctx, r) // the next tick asks again
		case <-ctx.Done():
			return
		}
	}
}

func (t *trial) listJobs(ctx context.Context, r *reader) ([]*pb.Job, error) {
	asked := time.Now()
	jobs, err := r.list(ctx)
	if err == nil {
		t.archive.add(jobs, asked, time.Now())
	}
	return jobs, err
}
