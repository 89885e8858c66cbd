package state_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
)

// records are those of a state's snapshot, without its trailer.
func records(t *testing.T, s state.State) (all []*pb.SnapshotRecord) {
	t.Helper()
	var text bytes.Buffer
	if err := s.Encode(&text); err != nil {
		t.Fatal(err)
	}
	for {
		record := new(pb.SnapshotRecord)
		switch err := protodelim.UnmarshalFrom(&text, record); err {
		case nil:
			all = append(all, record)
		case io.EOF:
			return all[:len(all)-1]
		default:
			t.Fatal(err)
		}
	}
}

// planJob adds a job that is not audited, planned by worker "p".
func planJob(t *testing.T, s state.State, id string, leaves uint32) state.State {
	t.Helper()
	s, _ = run(t, s, submit(id, "h"), start(id))
	return wantVerdict(t, s, by("p", planned(id, leaves)), accepted)
}

// manyMakers has every leaf of a job made by a worker of its own, w0 and so on.
func manyMakers(t *testing.T, s state.State, id string, leaves uint32) state.State {
	t.Helper()
	s = planJob(t, s, id, leaves)
	for leaf := range leaves {
		s = wantVerdict(t, s, by(fmt.Sprint("w", leaf), node(id, 1, 0, 0, leaf, 1)), accepted)
	}
	return s
}

// contradicts has a worker make two results of leaf 0 of a job. Nobody has made the leaf before.
func contradicts(t *testing.T, s state.State, id, worker string, at int64) state.State {
	t.Helper()
	for _, digest := range []byte{1, 2} {
		c := by(worker, node(id, 1, 0, 0, 0, digest))
		job, _ := s.Job(id)
		c.Id.Changes = job.Counters.Remade.Changes
		cmd := completions(c)
		cmd.NowUnixMs = at
		s, _ = run(t, s, cmd)
	}
	if _, known := s.Convicted.Get(worker); !known {
		t.Fatalf("worker %s is not convicted", worker)
	}
	return s
}

// The planner has bit 0 and the first 62 others bits of their own; all that come after share the last.
func TestMakersHaveBits(t *testing.T) {
	s := manyMakers(t, state.New(), "a", 66)
	auditedJob(t, s).Rounds.Open.EachCommit(func(c state.Commit) bool {
		if bit := min(c.Node.Index+1, 63); c.Makers != 1<<bit {
			t.Errorf("worker %s has bits %b, want bit %d", c.WorkerID, c.Makers, bit)
		}
		return true
	})
	for _, r := range records(t, s) {
		if job := r.GetJob(); job != nil && len(job.GetMakers()) != 63 {
			t.Errorf("%d workers are known by name", len(job.GetMakers()))
		}
	}
}

// A lie of a worker without a bit of its own may be in all that such workers made; what a worker with one made, the
// planner too, stands.
func TestTheLastBitIsShared(t *testing.T) {
	s := manyMakers(t, state.New(), "a", 66)
	s = wantVerdict(t, s, by("w64", node("a", 1, 0, 0, 64, 2)), pb.Verdict_VERDICT_VIOLATION)
	job := auditedJob(t, s)
	if len(job.Audits.Convicted) != 1 || job.Rounds.Open.Covered != 62 || job.Stage != pb.JobState_JOB_STATE_RUNNING {
		t.Errorf("%d convicted, %d leaves stand, %v", len(job.Audits.Convicted), job.Rounds.Open.Covered, job.Stage)
	}
}

// The first maker of a job is not taken for one that has no bit: an auditor that lies has no part in what the planner
// made.
func TestTheFirstMakerHasABitOfItsOwn(t *testing.T) {
	s := audited(t, 2)
	s = wantVerdict(t, s, by("p", node("a", 1, 0, 0, 0, 10)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), heard)
	s = wantVerdict(t, s, by("y", node("a", 1, 0, 0, 0, 10)), heard)
	if job := auditedJob(t, s); len(job.Audits.Convicted) != 1 || job.Rounds.Open.Covered != 1 ||
		job.Counters.Remade.Changes != 0 {
		t.Errorf("%d leaves, %+v, %+v", job.Rounds.Open.Covered, job.Audits.Convicted, job.Counters.Remade)
	}
}

// A worker without a bit of its own is convicted by another job: what it may have made is made again. A job that it
// has no part in is left alone.
func TestALiarsShareOfTheLastBitElsewhere(t *testing.T) {
	s := manyMakers(t, state.New(), "b", 64)
	s = manyMakers(t, s, "few", 61)
	s = planJob(t, s, "a", 1)
	s = contradicts(t, s, "a", "w62", 1002)
	for id, leaves := range map[string]uint64{"b": 62, "few": 61} {
		job, _ := s.Job(id)
		if told := len(job.Audits.Convicted) > 0; job.Rounds.Open.Covered != leaves || told != (id == "b") {
			t.Errorf("job %s: %d leaves stand, told of the liar: %v", id, job.Rounds.Open.Covered, told)
		}
	}
}
