package checker

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/chaos/history"
)

// liveness is I9.
func liveness(_ context.Context, e *Evidence, v *verdict) error {
	v.must(e.Waited <= e.Bound, "jobs took %v to end after the last fault, longer than %v", e.Waited, e.Bound)
	for _, job := range e.Jobs {
		v.must(stateOf(job).Terminal(), "job %s is still %s: %s", job.GetId(), stateOf(job), job.GetReason())
	}
	return nil
}

// innocence is I10: a job ends as cancelled only where somebody asked, and as failed only where
// its own input is why. No process panics, or ends by itself for another reason than its disk: one that
// is slow, or full, is the machine's fault, and ending is right. No secret is written down.
func innocence(ctx context.Context, e *Evidence, v *verdict) error {
	asked := make(map[string]bool)
	for _, op := range e.Operations {
		if op.Kind == history.Cancel && op.Outcome != history.Refused {
			asked[op.Job] = true
		}
	}
	for _, job := range e.Jobs {
		switch stateOf(job) {
		case history.Cancelled:
			v.must(asked[job.GetId()], "job %s was cancelled, and nobody asked", job.GetId())
		case history.Failed:
			f := job.GetFailure()
			v.must(slices.Contains(e.Specs[job.GetSpecHash()].MayFail, f.GetCode()),
				"job %s failed: %s: %s (%s, worker %s)",
				job.GetId(), f.GetCode(), f.GetMessage(), f.GetTask(), f.GetWorker())
		}
	}
	for _, exit := range e.Exits {
		v.must(strings.Contains(exit.Said, "disk"), "%s ended by itself: %s", exit.Process, exit.Said)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Logs)) {
		for line := range strings.Lines(e.Logs[name]) {
			crash := strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") ||
				strings.Contains(line, "WARNING: DATA RACE") || strings.Contains(line, "panic in a ")
			v.must(!crash, "%s: %s", name, strings.TrimSpace(line))
		}
		tells(v, e, "the log of "+name, e.Logs[name])
	}
	tells(v, e, "the backup", string(e.Backup))
	return silentObjects(ctx, e, v)
}

func tells(v *verdict, e *Evidence, where, text string) {
	for _, secret := range e.Secrets {
		v.must(!strings.Contains(text, secret), "a secret stands in %s", where)
	}
}

// silentObjects looks for secrets in all that the cluster wrote.
func silentObjects(ctx context.Context, e *Evidence, v *verdict) error {
	all, err := e.scan(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		v.must(!all[key].tells, "a secret stands in %s", key)
	}
	return nil
}
