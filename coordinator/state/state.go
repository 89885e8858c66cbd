// Package state is what the cluster has decided: a pure function from a state
// and a command of the replicated log to the next state and a reply.
//
// States are immutable values that share structure, so keeping one (a snapshot,
// a reader's view) costs nothing. No clock, I/O, randomness, map order or float
// is found here: time and ids are arguments of commands.
package state

import (
	"encoding/binary"

	iradix "github.com/hashicorp/go-immutable-radix/v2"
)

// Bounds on what the state may hold.
const (
	MaxActiveJobs   = 1000     // jobs that have not ended
	MaxLeaves       = 1 << 20  // leaves of all trees of a round
	MaxTrees        = 16 << 10 // trees of a round
	MaxRoundRecords = 256      // finished rounds kept per job, the newest
	MaxOutputs      = 16
	MaxFailureBytes = 4 << 10

	MaxSchedules   = 10000
	MaxCatchUp     = 100 // ticks that a schedule makes up for
	MaxTickRecords = 16  // decisions kept per schedule, the newest

	MaxAliases = 10000
	MaxUpkeep  = 256  // jobs that one entry retires, or marks as swept
	MaxRemoved = 1024 // ids of members taken out, the newest
)

// State is everything the log has decided. The zero value is not usable; see New.
type State struct {
	ClusterID string
	Now       int64  // the largest proposed time since the clock was set, in Unix milliseconds
	NextJob   uint64 // number of the next job accepted, or of the next change of a schedule
	Epoch     uint64 // how often a backup was the beginning of a new cluster
	Secret    []byte // of the cluster: lease tokens are authenticated by it, and audits drawn
	HeldSince int64  // no tick is decided since this restore, in Unix milliseconds; 0 means they are
	jobs      *iradix.Tree[*Job]
	active    *iradix.Tree[string] // job number -> id, of jobs that have not ended
	Tokens    Tokens
	schedules *iradix.Tree[*Schedule]
	Retired   RetiredJobs
	aliases   *iradix.Tree[Alias]
	Convicted Convictions
	removed   *iradix.Tree[uint64] // ids of members taken out, numbered in order
	running   *iradix.Tree[string] // schedule id, job number -> id, of active's jobs that a tick made
}

// New is the state before the first command.
func New() State {
	return State{
		NextJob: 1,
		jobs:    iradix.New[*Job](),
		active:  iradix.New[string](),
		Tokens:  newTokens(),

		schedules: iradix.New[*Schedule](),
		running:   iradix.New[string](),

		Retired: RetiredJobs{unswept: iradix.New[Retired](), swept: newSweptJobs()},
		aliases: iradix.New[Alias](),
		removed: iradix.New[uint64](),

		Convicted: Convictions{tree: iradix.New[Conviction]()},
	}
}

// Job returns the job with this id. The caller must not change it.
func (s State) Job(id string) (*Job, bool) { return s.jobs.Get([]byte(id)) }

// JobCount is how many jobs are known, ended ones included.
func (s State) JobCount() int { return s.jobs.Len() }

// ActiveCount is how many jobs have not ended.
func (s State) ActiveCount() int { return s.active.Len() }

// EachActive visits the jobs that have not ended, in order of acceptance, until visit returns false.
func (s State) EachActive(visit func(*Job) bool) {
	s.active.Root().Walk(func(_ []byte, id string) bool {
		job, _ := s.Job(id)
		return !visit(job)
	})
}

// EachJob visits every job in order of id until visit returns false.
func (s State) EachJob(visit func(*Job) bool) {
	s.jobs.Root().Walk(func(_ []byte, job *Job) bool { return !visit(job) })
}

func (s State) putJob(job *Job) State {
	s.jobs, _, _ = s.jobs.Insert([]byte(job.ID), job)
	number := numberKey(job.Number)
	if job.Ended() {
		s.active, _, _ = s.active.Delete(number)
	} else {
		s.active, _, _ = s.active.Insert(number, job.ID)
	}
	if job.ScheduleID == "" || job.ByHand {
		return s
	}
	if key := append(runningKey(job.ScheduleID), number...); job.Ended() {
		s.running, _, _ = s.running.Delete(key)
	} else {
		s.running, _, _ = s.running.Insert(key, job.ID)
	}
	return s
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
