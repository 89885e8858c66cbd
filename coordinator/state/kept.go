package state

import (
	"math/bits"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// keptRounds is what a job keeps so that lost objects can be made again.
type keptRounds struct {
	first  Round  // how the rounds begin; without trees where that is not known
	last   Round  // the last closed round, while it can be reopened; without trees where it cannot
	top    uint32 // the highest number of a round so far
	since  uint32 // the first round of the present beginning
	floors []floor
	// inRound counts the changes with reason LOST since the highest round was opened.
	inRound uint32
	// unreadable counts those with reason UNREADABLE since then.
	unreadable uint32
}

// floor says since when what rounds below a number made is garbage, unless it is referred to: so that taking back
// the end of a round does not take back what it made garbage.
type floor struct {
	below uint32
	at    int64
}

// Remade counts what was taken back and made again.
type Remade struct {
	Changes  uint64 // commands that took something back
	Tasks    uint64 // that these named
	Reopened uint32 // closed rounds, and finished models
	Anew     uint32 // how often the rounds began anew
	Last     string // why, the last time
}

// known reports whether a kept round is kept.
func (r Round) known() bool { return len(r.Trees) > 0 }

// nextNumber is the number of a round that never was: keys of objects begin with what no earlier round made.
func (j *Job) nextNumber() uint32 { return max(j.top, j.Round.Number) + 1 }

// open makes r the open round.
func (j *Job) open(r Round) {
	if r.Number > j.top {
		j.top, j.inRound, j.unreadable = r.Number, 0, 0
	}
	j.Round = r
}

// lastClosed is the record of the round that was closed last, of the present beginning.
func (j *Job) lastClosed() (RoundRecord, bool) {
	if at := len(j.Rounds) - 1; at >= 0 && j.Rounds[at].Number >= j.since {
		return j.Rounds[at], true
	}
	return RoundRecord{}, false
}

// RoundsSince are the finished rounds of the present beginning: the model comes of them alone.
func (j *Job) RoundsSince() []RoundRecord {
	for i, r := range j.Rounds {
		if r.Number >= j.since {
			return j.Rounds[i:]
		}
	}
	return nil
}

// floorAt is the number below which all was garbage by a time for the floors alone.
func (j *Job) floorAt(at int64) uint64 {
	below := uint64(0)
	for _, f := range j.floors {
		if f.at <= at {
			below = max(below, uint64(f.below))
		}
	}
	return below
}

// takeBackRecord removes the record of the round that was closed last. What its end made garbage stays so; that of the
// open round, whose model waited for its report, made nothing garbage.
func (j *Job) takeBackRecord() {
	if r, ok := j.lastClosed(); ok {
		if r.Number != j.Round.Number {
			j.floors = append(j.floors, floor{r.Number, r.FinishedAt})
		}
		j.Rounds = j.Rounds[: len(j.Rounds)-1 : len(j.Rounds)-1]
	}
}

// eachSpare visits the objects that are read only when others are lost.
func (j *Job) eachSpare(visit func(round uint32, ref Ref)) {
	if j.Ended() {
		return
	}
	if j.first.known() {
		visit(0, j.first.State)
	}
	if !j.last.known() {
		return
	}
	visit(j.last.Base, j.last.State)
	j.last.EachCommit(func(c Commit) bool {
		visit(j.last.Number, c.Object)
		return true
	})
	j.last.carries.Root().Walk(func(_ []byte, c Carry) bool {
		visit(j.last.Number, c.Object)
		return false
	})
	j.last.Kept.Root().Walk(func(_ []byte, c Carry) bool {
		visit(j.last.Base, c.Object)
		return false
	})
}

// uncommit takes back what is committed of a node: its own commit, one that covers it, and those below it. Carries go
// with the commits that their leaves are made by.
func (r Round) uncommit(tree uint32, n protocol.Node) Round {
	if c, ok := r.Covering(tree, n); ok {
		n = c.Node
	}
	first, end := r.Tree(tree).Range(n)
	commits, carries := r.commits.Txn(), r.carries.Txn()
	r.Commits(tree, first, end, func(c Commit) bool {
		from, to := r.Tree(tree).Range(c.Node)
		commits.Delete(leafKey(tree, from))
		r.Covered -= uint64(to - from)
		return true
	})
	it := r.carries.Root().Iterator()
	it.SeekLowerBound(leafKey(tree, first))
	for key, c, ok := it.Next(); ok && c.Tree == tree && int(c.First) < end; key, c, ok = it.Next() {
		carries.Delete(key)
	}
	r.commits, r.carries = commits.Commit(), carries.Commit()
	return r
}

// nodeOver returns the node that covers exactly the leaves [first, end) of a tree, as a carry's node does. A node's
// name is canonical, so its right half has a leaf, and its level follows from how many leaves it has.
func nodeOver(first, end uint32) protocol.Node {
	level := bits.Len32(end - first - 1)
	return protocol.Node{Level: level, Index: int(first >> level)}
}

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
	record.Inherited = j.Round.Inherited
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
	j.Round.Inherited = record.GetInherited()
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
