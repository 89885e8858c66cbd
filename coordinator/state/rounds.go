package state

import (
	"slices"

	"google.golang.org/protobuf/proto"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Rounds are the rounds of a job: the open one, the records of those finished, and what is kept of others so that lost
// objects can be made again. A reopened round keeps its number; rounds that begin anew get numbers above all earlier
// ones, so that no key of an object is used for two.
type Rounds struct {
	Open     Round
	Finished []RoundRecord // oldest first, at most MaxRoundRecords
	first    Round         // how the rounds begin; without trees where that is not known
	last     Round         // the last closed round, while it can be reopened; without trees where it cannot
	top      uint32        // the highest number of a round so far
	since    uint32        // the first round of the present beginning
	floors   []floor
	// inRound counts the changes with reason LOST since the highest round was opened.
	inRound uint32
	// unreadable counts those with reason UNREADABLE since then.
	unreadable uint32
}

// RoundRecord is a finished round.
type RoundRecord struct {
	Number                uint32
	Phase                 string
	Leaves                uint64
	StartedAt, FinishedAt int64
	State, Metrics        Ref
	Audited               bool // two workers made its step
}

// floor says since when what rounds below a number made is garbage, unless it is referred to: so that taking back
// the end of a round does not take back what it made garbage.
type floor struct {
	below uint32
	at    int64
}

// known reports whether a kept round is kept.
func (r Round) known() bool { return len(r.Trees) > 0 }

// nextNumber is the number of a round that never was: keys of objects begin with what no earlier round made.
func (rs *Rounds) nextNumber() uint32 { return max(rs.top, rs.Open.Number) + 1 }

// begin opens the first round.
func (rs *Rounds) begin(first Round) {
	rs.first = first
	rs.open(first)
}

// open makes r the open round.
func (rs *Rounds) open(r Round) {
	if r.Number > rs.top {
		rs.top, rs.inRound, rs.unreadable = r.Number, 0, 0
	}
	rs.Open = r
}

// follow opens the round after the open one, which can be reopened. The makers had a part in the state of the next.
func (rs *Rounds) follow(next Round, makers uint64) {
	next.Inherited = makers
	if next.Phase == rs.Open.Phase {
		next.Kept = rs.Open.carries
	}
	rs.last = rs.Open
	rs.last.Expected = Ref{}
	rs.open(next)
}

// finish adds the record of a round whose step is made.
func (rs *Rounds) finish(r RoundRecord) {
	rs.Finished = append(rs.Finished, r)
	rs.Finished = rs.Finished[max(0, len(rs.Finished)-MaxRoundRecords):]
}

// markAudited notes that two workers made the step of a round.
func (rs *Rounds) markAudited(number uint32) {
	if at := slices.IndexFunc(rs.Finished, func(r RoundRecord) bool { return r.Number == number }); at >= 0 {
		rs.Finished = slices.Clone(rs.Finished)
		rs.Finished[at].Audited = true
	}
}

// end lets go of what is committed of the open round, and of what is kept: nothing is made any more.
func (rs *Rounds) end() {
	base := rs.Open.Base
	rs.Open = newRound(rs.Open.Number, rs.Open.Phase, rs.Open.Trees, rs.Open.State, rs.Open.StartedAt)
	rs.Open.Base, rs.first, rs.last = base, Round{}, Round{}
}

// lastClosed is the record of the round that was closed last, of the present beginning.
func (rs *Rounds) lastClosed() (RoundRecord, bool) {
	if at := len(rs.Finished) - 1; at >= 0 && rs.Finished[at].Number >= rs.since {
		return rs.Finished[at], true
	}
	return RoundRecord{}, false
}

// Since are the finished rounds of the present beginning: the model comes of them alone.
func (rs *Rounds) Since() []RoundRecord {
	for i, r := range rs.Finished {
		if r.Number >= rs.since {
			return rs.Finished[i:]
		}
	}
	return nil
}

// takeBackRecord removes the record of the round that was closed last. What its end made garbage stays so; that of the
// open round, whose model waited for its report, made nothing garbage.
func (rs *Rounds) takeBackRecord() {
	if r, ok := rs.lastClosed(); ok {
		if r.Number != rs.Open.Number {
			rs.floors = append(rs.floors, floor{r.Number, r.FinishedAt})
		}
		rs.Finished = rs.Finished[: len(rs.Finished)-1 : len(rs.Finished)-1]
	}
}

// takeBackModel lets the last step be made again. A model that was lost is known by its digest.
func (rs *Rounds) takeBackModel(model Ref) {
	rs.Open.Expected = model
	rs.takeBackRecord()
}

// reopen makes the last closed round the open one again, as it was before its step. What was made of it is void.
func (rs *Rounds) reopen() {
	expected := rs.Open.State
	if last, ok := rs.lastClosed(); ok && last.Number == rs.Open.Number { // of a round whose model was finished
		rs.takeBackRecord()
	}
	rs.takeBackRecord()
	rs.Open, rs.last = rs.last, Round{}
	rs.Open.Expected = expected
}

// beginAnew opens the first round again, under a number that none had: what earlier rounds made is garbage.
func (rs *Rounds) beginAnew(now int64) {
	number := rs.nextNumber()
	rs.last = Round{}
	rs.floors = append(rs.floors, floor{number, now})
	rs.since = number
	again := newRound(number, rs.first.Phase, rs.first.Trees, rs.first.State, now)
	again.Base = 0
	rs.open(again)
}

// planAnew leaves no round open until the plan is made again.
func (rs *Rounds) planAnew() {
	number := rs.nextNumber()
	rs.last = Round{}
	rs.top, rs.since = max(rs.top, rs.Open.Number), number
	rs.Open = newRound(rs.Open.Number, "", nil, Ref{}, 0)
}

// unshared copies what times points into, so that changing a time leaves the state alone that the rounds are of.
func (rs *Rounds) unshared() {
	rs.floors, rs.Finished = slices.Clone(rs.floors), slices.Clone(rs.Finished)
}

// times are all times of the rounds.
func (rs *Rounds) times() []*int64 {
	all := []*int64{&rs.Open.StartedAt, &rs.first.StartedAt, &rs.last.StartedAt}
	for i := range rs.floors {
		all = append(all, &rs.floors[i].at)
	}
	for i := range rs.Finished {
		all = append(all, &rs.Finished[i].StartedAt, &rs.Finished[i].FinishedAt)
	}
	return all
}

// record adds the rounds to the record of their job; what is committed of them has records of its own.
func (rs *Rounds) record(record *pb.JobRecord) {
	open := rs.Open
	record.Round, record.Phase, record.Trees, record.RoundStartedUnixMs = open.Number, open.Phase, open.Trees,
		open.StartedAt
	record.StateObject, record.StateRound = open.State.Proto(), proto.Uint32(open.Base)
	record.Expected, record.Inherited = open.Expected.Proto(), open.Inherited
	record.Rounds = rs.Records()
	record.Last, record.First = rs.last.keptRecord(), rs.first.keptRecord()
	record.TopRound, record.SinceRound = rs.top, rs.since
	record.ChangesInRound, record.UnreadableInRound = rs.inRound, rs.unreadable
	for _, f := range rs.floors {
		record.Floors = append(record.Floors, &pb.Floor{Round: f.below, SinceUnixMs: f.at})
	}
}

// roundsFrom reads what record wrote.
func roundsFrom(record *pb.JobRecord) Rounds {
	state, _ := refFrom(record.GetStateObject())
	open := newRound(record.GetRound(), record.GetPhase(), record.GetTrees(), state, record.GetRoundStartedUnixMs())
	if record.StateRound != nil {
		open.Base = record.GetStateRound()
	}
	open.Expected, _ = refFrom(record.GetExpected())
	open.Inherited = record.GetInherited()
	rs := Rounds{
		Open: open, Finished: finishedFrom(record.GetRounds()),
		first: keptFrom(record.GetFirst()), last: keptFrom(record.GetLast()),
		top: record.GetTopRound(), since: record.GetSinceRound(),
		inRound: record.GetChangesInRound(), unreadable: record.GetUnreadableInRound(),
	}
	for _, f := range record.GetFloors() {
		rs.floors = append(rs.floors, floor{f.GetRound(), f.GetSinceUnixMs()})
	}
	return rs
}

func (r Round) keptRecord() *pb.RoundKept {
	if !r.known() {
		return nil
	}
	return &pb.RoundKept{Round: r.Number, Phase: r.Phase, Trees: r.Trees, State: r.State.Proto(), StateRound: r.Base,
		StartedUnixMs: r.StartedAt, Inherited: r.Inherited}
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
