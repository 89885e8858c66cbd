package state

import (
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// RoundRecordsSince are the finished rounds of the present beginning as they cross the wire.
func (j *Job) RoundRecordsSince() []*pb.RoundRecord { return roundRecords(j.RoundsSince()) }

// recordKept adds what is kept for lost objects to the record of a job.
func (j *Job) recordKept(record *pb.JobRecord) {
	record.Last, record.First = j.last.keptRecord(), j.first.keptRecord()
	record.TopRound, record.SinceRound = j.top, j.since
	record.ChangesInRound, record.UnreadableInRound = j.inRound, j.unreadable
	for _, f := range j.floors {
		record.Floors = append(record.Floors, &pb.Floor{Round: f.below, SinceUnixMs: f.at})
	}
	record.StateRound = proto.Uint32(j.Round.Base)
	record.Expected = j.Round.Expected.Proto()
}

func (r Round) keptRecord() *pb.RoundKept {
	if !r.known() {
		return nil
	}
	return &pb.RoundKept{Round: r.Number, Phase: r.Phase, Trees: r.Trees, State: r.State.Proto(), StateRound: r.Base,
		StartedUnixMs: r.StartedAt, Inherited: r.Inherited}
}

// takeKept reads what recordKept wrote.
func (j *Job) takeKept(record *pb.JobRecord) {
	j.last, j.first = keptFrom(record.GetLast()), keptFrom(record.GetFirst())
	j.top, j.since = record.GetTopRound(), record.GetSinceRound()
	j.inRound, j.unreadable = record.GetChangesInRound(), record.GetUnreadableInRound()
	for _, f := range record.GetFloors() {
		j.floors = append(j.floors, floor{f.GetRound(), f.GetSinceUnixMs()})
	}
	if record.StateRound != nil {
		j.Round.Base = record.GetStateRound()
	}
	j.Round.Expected, _ = refFrom(record.GetExpected())
}

func keptFrom(k *pb.RoundKept) Round {
	if k == nil {
		return Round{}
	}
	state, _ := refFrom(k.GetState())
	r := newRound(k.GetRound(), k.GetPhase(), k.GetTrees(), state, k.GetStartedUnixMs())
	r.Base, r.Inherited = k.GetStateRound(), k.GetInherited()
	return r
}

// roundOf is the round of the job being read that a record of a commit or a carry belongs to.
func (in *recordReader) roundOf(last bool) *Round {
	if last {
		return &in.job.last
	}
	return &in.job.Round
}

func (r Remade) proto() *pb.Remade {
	if r == (Remade{}) {
		return nil
	}
	return &pb.Remade{Changes: r.Changes, Tasks: r.Tasks, Reopened: r.Reopened, Anew: r.Anew, Last: r.Last}
}

func remadeFrom(r *pb.Remade) Remade {
	return Remade{Changes: r.GetChanges(), Tasks: r.GetTasks(), Reopened: r.GetReopened(), Anew: r.GetAnew(),
		Last: r.GetLast()}
}
