package state

import (
	"math"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// ObjectID names a job object among those of its job: what it holds, and the round that made it. Round 0 is the plan.
type ObjectID struct {
	Round  uint32
	SHA256 [32]byte
}

// Garbage is those objects of a job that nobody reads, and that no entry of the log can refer to again:
// what is garbage in one state is garbage in every later one.
type Garbage struct {
	below uint64 // rounds that make no more objects
	// plan says that what the plan made may be garbage too: not while a job runs, for a forgotten plan may come out as
	// it was.
	plan bool
	held map[ObjectID]bool
}

// Garbage tells what of the job was garbage already at a time, in Unix milliseconds. A commit names
// the round it is of, and is refused unless that is the open one; so nothing of a closed round can be referred
// to that is not by now. An ended job refers to nothing new at all. Where two results were found for one task,
// all is kept.
func (j *Job) Garbage(at int64) Garbage {
	g := Garbage{held: make(map[ObjectID]bool)}
	switch {
	case j.Counters.Violations > 0:
		return g
	case j.Ended() && j.FinishedAt <= at:
		g.below, g.plan = math.MaxUint32+1, true
	case !j.Ended():
		for _, r := range j.Rounds.Finished {
			// What the round before it made was read by this one last. The round whose model waits for its report may
			// be made again, and the one before it too.
			if r.FinishedAt <= at && r.Number != j.Rounds.Open.Number {
				g.below = uint64(r.Number)
			}
		}
		g.below = max(g.below, j.Rounds.floorAt(at))
	}
	if g.below > 0 {
		j.EachReference(func(o ObjectID) {
			if uint64(o.Round) < g.below {
				g.held[o] = true
			}
		})
	}
	return g
}

// floorAt is the number below which all was garbage by a time for the floors alone.
func (rs *Rounds) floorAt(at int64) uint64 {
	below := uint64(0)
	for _, f := range rs.floors {
		if f.at <= at {
			below = max(below, uint64(f.below))
		}
	}
	return below
}

// Empty reports that there is none for certain, so that nobody need look.
func (g Garbage) Empty() bool { return g.below == 0 }

// Has reports whether an object of the job is garbage.
func (g Garbage) Has(o ObjectID) bool {
	return uint64(o.Round) < g.below && (o.Round > 0 || g.plan) && !g.held[o]
}

// EachReference visits the job objects that somebody may read, those included that are needed only when others are
// lost. It may visit one twice.
func (j *Job) EachReference(visit func(ObjectID)) {
	j.eachObject(func(o Object) bool {
		visit(ObjectID{o.Round, o.Ref.SHA256})
		return true
	})
	if !j.Ended() {
		j.Rounds.eachSpare(func(round uint32, ref Ref) { visit(ObjectID{round, ref.SHA256}) })
	}
	j.Audits.eachObject(func(round uint32, ref Ref) { visit(ObjectID{round, ref.SHA256}) })
}

// eachSpare visits the objects that are read only when others are lost.
func (rs *Rounds) eachSpare(visit func(round uint32, ref Ref)) {
	if rs.first.known() {
		visit(0, rs.first.State)
	}
	if !rs.last.known() {
		return
	}
	visit(rs.last.Base, rs.last.State)
	rs.last.EachCommit(func(c Commit) bool {
		visit(rs.last.Number, c.Object)
		return true
	})
	rs.last.carries.Root().Walk(func(_ []byte, c Carry) bool {
		visit(rs.last.Number, c.Object)
		return false
	})
	rs.last.Kept.Root().Walk(func(_ []byte, c Carry) bool {
		visit(rs.last.Base, c.Object)
		return false
	})
}

// Object is something in the store that the state refers to.
type Object struct {
	JobID, What string
	URI         string // of an output; else empty: it is a job object
	Round       uint32 // that made the job object; 0 is the plan
	Ref         Ref
}

// EachObject visits what jobs refer to and cannot do without, in order of job: the outputs of those that have ended,
// and all that those which have not will read, until visit returns false.
func (s State) EachObject(visit func(Object) bool) {
	s.EachJob(func(job *Job) bool {
		if job.Ended() {
			for _, o := range job.Outputs {
				if !visit(Object{JobID: job.ID, What: o.Name, URI: o.URI, Ref: o.Ref}) {
					return false
				}
			}
			return true
		}
		return job.eachObject(visit)
	})
}

// eachObject visits what a job that has not ended will read: what its open round is made from and what is
// committed of it, and what the report is made of. The states of older rounds, whose digests
// the records keep, are left out. Of an ended job it visits what people may look at.
func (j *Job) eachObject(visit func(Object) bool) bool {
	more := true
	see := func(what string, round uint32, ref Ref) bool {
		more = more && (ref.IsZero() || visit(Object{JobID: j.ID, What: what, Round: round, Ref: ref}))
		return more
	}
	open := j.Rounds.Open.Number
	before := j.Rounds.Open.Base
	see("manifest", 0, j.Manifest)
	see("plan", 0, j.Plan)
	if j.Stage != pb.JobState_JOB_STATE_SUCCEEDED {
		see("state", before, j.Rounds.Open.State)
	}
	see("model", open, j.Model)
	see("timeline", open, j.Course)
	j.Rounds.Open.EachCommit(func(c Commit) bool { return see("partial", open, c.Object) })
	j.Rounds.Open.carries.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", open, c.Object) })
	j.Rounds.Open.Kept.Root().Walk(func(_ []byte, c Carry) bool { return !see("carry", before, c.Object) })
	for _, r := range j.Rounds.Since() {
		see("metrics", r.Number, r.Metrics)
	}
	return more
}
