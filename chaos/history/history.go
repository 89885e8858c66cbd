// Package history is what clients of a chaos run did and saw: one line of JSON for each call, with
// times of one monotonic clock. It knows nothing of how Gram works; the checkers judge it.
package history

import (
	"cmp"
	"slices"
	"time"
)

// Kind is what a client asked for.
type Kind string

// The calls. List, Members and schedules are not of one job.
const (
	Submit         Kind = "submit"
	Get            Kind = "get"
	Cancel         Kind = "cancel"
	List           Kind = "list"
	Status         Kind = "status"
	CreateSchedule Kind = "create-schedule"
	GetSchedule    Kind = "get-schedule"
)

// Outcome is what the client knows afterwards.
type Outcome string

const (
	// OK: the cluster did it, and the answer is in Seen, Listed or Status.
	OK Outcome = "ok"
	// Refused: the cluster answered that it did nothing, and why (Code).
	Refused Outcome = "refused"
	// Unknown: there was no answer, or one that says nothing. It may have taken effect at any
	// time after it was invoked, even after it returned, or never.
	Unknown Outcome = "unknown"
)

// The codes of refusals that say something about the job, as Connect writes them.
const (
	NotFound      = "not_found"      // no such job
	AlreadyExists = "already_exists" // the job's id is in use with another spec
)

// Operation is one call of a client. A call that is tried again is another operation.
type Operation struct {
	Client int    `json:"client"`
	Kind   Kind   `json:"kind"`
	Member string `json:"member"`        // whom it called; the cluster may have carried it elsewhere
	Job    string `json:"job,omitempty"` // Submit, Get, Cancel: the job's id
	// SpecHash, of Submit, is that of the spec that was sent, worked out by the client.
	SpecHash string `json:"spec_hash,omitempty"`
	Spec     string `json:"spec,omitempty"`     // of Submit: the spec's name in the workload
	Schedule string `json:"schedule,omitempty"` // of schedules: the id

	// Invoked and Returned are times since the run began, on one monotonic clock for all
	// clients. An Unknown operation has returned to the client, not from the cluster.
	Invoked  time.Duration `json:"invoked"`
	Returned time.Duration `json:"returned"`

	Outcome Outcome `json:"outcome"`
	Code    string  `json:"code,omitempty"` // of an error: Connect's code
	Error   string  `json:"error,omitempty"`

	Created bool       `json:"created,omitempty"` // Submit: the answer says that this call made it
	Seen    *Job       `json:"seen,omitempty"`    // Submit, Get, Cancel, if OK
	Listed  []Job      `json:"listed,omitempty"`  // List, if OK
	Status  *Position  `json:"status,omitempty"`  // Status, if OK
	Ticks   *TickState `json:"ticks,omitempty"`   // schedules, if OK
}

// State is where a job is in its life.
type State string

// The states, in order of progress; the last three are terminal.
const (
	Queued    State = "queued"
	Planning  State = "planning"
	Running   State = "running"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Terminal reports whether a job in this state has ended.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Cancelled }

// Job is a job as one answer tells of it.
type Job struct {
	ID       string `json:"id"`
	SpecHash string `json:"spec_hash"`
	State    State  `json:"state"`
	Round    uint32 `json:"round,omitempty"`
	// Remade counts how often something of the job was taken back to be made again: then its round, or its state, may
	// go back.
	Remade   uint64 `json:"remade,omitempty"`
	Model    string `json:"model,omitempty"` // SHA-256 of model.safetensors in hex, once it has one
	Failure  string `json:"failure,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	Tick     int64  `json:"tick,omitempty"` // Unix milliseconds
}

// Position is how far the member that answered was: the leader's.
type Position struct {
	Leader string `json:"leader"`
	Term   uint64 `json:"term"`
	Index  uint64 `json:"index"`
	Digest string `json:"digest"` // SHA-256 of its state at Index, in hex
}

// TickState is what has become of a schedule's ticks.
type TickState struct {
	LastTick int64  `json:"last_tick"` // Unix milliseconds: decided up to here
	Fired    uint64 `json:"fired"`
	Skipped  uint64 `json:"skipped"`
}

// Sort orders operations by when they were invoked; the one that returned first comes first
// among those invoked at once.
func Sort(ops []Operation) {
	slices.SortStableFunc(ops, func(a, b Operation) int { // total order: the file's, where both times are equal
		return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.Returned, b.Returned))
	})
}

// OfJobs parts the operations that name one job by its id, in order.
func OfJobs(ops []Operation) map[string][]Operation {
	jobs := make(map[string][]Operation)
	for _, op := range ops {
		if op.Job != "" {
			jobs[op.Job] = append(jobs[op.Job], op)
		}
	}
	return jobs
}

// Follows reports whether one answer may be later than another: states and rounds go on, but for a job of which
// something was taken back meanwhile, and that has not ended.
func (j Job) Follows(before Job, rank func(State) int) bool {
	if j.Remade > before.Remade && !before.State.Terminal() {
		return true
	}
	return j.Remade >= before.Remade && rank(j.State) >= rank(before.State) &&
		(j.State.Terminal() || j.Round >= before.Round)
}
