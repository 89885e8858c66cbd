package state

import (
	"math"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Object names an object of a job: what it holds, and the round that made it. Round 0 is the plan.
type Object struct {
	Round  uint32
	SHA256 [32]byte
}

// EachReference visits the objects that the log refers to so that somebody reads them: those of the open
// round and those it was made from, and what the report is made of. The states of older rounds, whose
// digests the records keep, are none. It may visit an object twice.
func (j *Job) EachReference(visit func(Object, Ref)) {
	see := func(round uint32, ref Ref) {
		if !ref.IsZero() {
			visit(Object{round, ref.SHA256}, ref)
		}
	}
	see(0, j.Manifest)
	see(0, j.Plan)
	for _, r := range j.Rounds {
		see(r.Number, r.Metrics)
	}
	see(j.Round.Number, j.Model)
	if j.Round.Number == 0 {
		return
	}
	if j.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		see(j.Round.Number-1, j.Round.State)
	}
	j.Round.Kept.Root().Walk(func(_ []byte, c Carry) bool {
		see(j.Round.Number-1, c.Object)
		return false
	})
	j.Round.EachCommit(func(c Commit) bool {
		see(j.Round.Number, c.Object)
		return true
	})
	j.Round.carries.Root().Walk(func(_ []byte, c Carry) bool {
		see(j.Round.Number, c.Object)
		return false
	})
}

// Garbage is those objects of a job that nobody reads, and that no entry of the log can refer to again:
// what is garbage in one state is garbage in every later one.
type Garbage struct {
	below uint64 // rounds that make no more objects
	held  map[Object]bool
}

// Garbage tells what of the job was garbage already at a time, in Unix milliseconds. A commit names
// the round it is of, and is refused unless that is the open one; so nothing of a closed round can be referred
// to that is not by now. An ended job refers to nothing new at all. Where two results were found for one task,
// all is kept.
func (j *Job) Garbage(at int64) Garbage {
	g := Garbage{held: make(map[Object]bool)}
	switch {
	case j.Counters.Violations > 0:
		return g
	case j.Ended() && j.FinishedAt <= at:
		g.below = math.MaxUint32 + 1
	case !j.Ended():
		for _, r := range j.Rounds {
			if r.FinishedAt <= at { // what the round before it made was read by this one last
				g.below = uint64(r.Number)
			}
		}
	}
	if g.below > 0 {
		j.EachReference(func(o Object, _ Ref) {
			if uint64(o.Round) < g.below {
				g.held[o] = true
			}
		})
	}
	return g
}

// Empty reports that there is none for certain, so that nobody need look.
func (g Garbage) Empty() bool { return g.below == 0 }

// Has reports whether an object of the job is garbage.
func (g Garbage) Has(o Object) bool { return uint64(o.Round) < g.below && !g.held[o] }
