// Package checker judges a chaos run by what clients recorded, what the cluster says at the end, its
// logs and its objects. It imports nothing of the coordinator but the messages of its protocol, and
// knows its promises only (docs/chaos.md).
package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Evidence is all that a run has left.
type Evidence struct {
	Operations []history.Operation
	Specs      map[string]Spec   // by the spec's hash
	Jobs       []*pb.Job         // as List told of them last: at the end, or before they were retired
	Sightings  []Sighting        // of the same jobs
	Schedules  []*pb.Schedule    // at the end
	Ended      time.Time         // when Schedules were read
	Replicas   []Replica         // at the end, when nothing was written any more
	Backup     []byte            // of `gram cluster backup`, at the end
	Bucket     string            // of Store
	Store      objstore.Store    // the whole bucket
	Own        string            // prefix of what the cluster may write
	Given      string            // prefix of what was there before
	Logs       map[string]string // what each process said, by its name
	Secrets    []string          // that nobody may write down
	Exits      []Exit            // of processes that ended by themselves
	Damaged    map[string]bool   // keys of objects that the run damaged or removed itself
	Vanished   map[string]bool   // keys of objects that the run answered and lost
	Lied       bool              // a worker of the run computed wrongly on purpose
	Keep       time.Duration     // how long the cluster keeps jobs that have ended
	// Waited is how long it took after the last fault until every job had ended, Bound how long it may.
	Waited, Bound time.Duration

	objects map[string]object // of Store, once they were read
	scanned time.Time         // when that was over
}

// Spec is what may come of the jobs of a spec.
type Spec struct {
	Name    string
	Models  []string // SHA-256, in hex, of the models that fault-free runs in one process made
	MayFail []string // codes of failures that are as they should be
}

// Replica is a member at the end of a run.
type Replica struct {
	Member string
	Index  uint64
	Digest string
}

// Exit is a process that ended by itself.
type Exit struct {
	Process string
	Said    string // last
}

// Result is the judgment on one invariant.
type Result struct {
	ID, Says string
	Checked  int      // facts that were checked against it: 0 means that nothing was shown
	Found    []string // violations
	Err      error    // it could not be judged
}

// Holds reports whether the invariant was tested and nothing was found.
func (r Result) Holds() bool { return r.Err == nil && r.Checked > 0 && len(r.Found) == 0 }

// verdict collects what one invariant's check finds.
type verdict struct {
	checked int
	found   []string
}

func (v *verdict) ok() { v.checked++ }

func (v *verdict) fail(format string, args ...any) {
	v.checked++
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

// must counts one fact, and a violation where it does not hold.
func (v *verdict) must(holds bool, format string, args ...any) {
	if holds {
		v.ok()
		return
	}
	v.fail(format, args...)
}

type invariant struct {
	id, says string
	check    func(context.Context, *Evidence, *verdict) error
}

func invariants() []invariant {
	return []invariant{
		{"I1", "every acknowledged submit exists once, none unasked", submits},
		{"I2", "each task is committed once, one model for each job", commits},
		{"I3", "models equal those of fault-free runs, to the bit", models},
		{"I4", "the histories of jobs are linearizable", linearizable},
		{"I5", "each tick fired once or was recorded as skipped", ticks},
		{"I6", "replicas are equal at equal index", replicas},
		{"I7", "states, terms and indices never go back", progress},
		{"I8", "every object referred to is there, with its digest", objects},
		{"I9", "after the last fault everything ends", liveness},
		{"I10", "no fault is charged to a job, no process gives up", innocence},
		{"I11", "ended jobs are kept for their time, and not much longer", retention},
	}
}

// Check judges every invariant.
func Check(ctx context.Context, e *Evidence) []Result {
	var results []Result
	for _, inv := range invariants() {
		var v verdict
		err := inv.check(ctx, e, &v)
		results = append(results, Result{ID: inv.id, Says: inv.says, Checked: v.checked, Found: v.found, Err: err})
	}
	return results
}

// Violated reports whether any invariant does not hold.
func Violated(results []Result) bool {
	for _, r := range results {
		if !r.Holds() {
			return true
		}
	}
	return false
}

func stateOf(job *pb.Job) history.State {
	switch job.GetState() {
	case pb.JobState_JOB_STATE_QUEUED:
		return history.Queued
	case pb.JobState_JOB_STATE_PLANNING:
		return history.Planning
	case pb.JobState_JOB_STATE_RUNNING:
		return history.Running
	case pb.JobState_JOB_STATE_SUCCEEDED:
		return history.Succeeded
	case pb.JobState_JOB_STATE_FAILED:
		return history.Failed
	case pb.JobState_JOB_STATE_CANCELLED:
		return history.Cancelled
	}
	return history.State(job.GetState().String())
}
