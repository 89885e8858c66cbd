package linear_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/chaos/linear"
)

// at puts a call of client 1 on job "a" between two times.
func at(begin, end int, op history.Operation) history.Operation {
	op.Invoked, op.Returned = time.Duration(begin), time.Duration(end)
	if op.Client == 0 {
		op.Client = 1
	}
	if op.Job == "" && op.Kind != history.List {
		op.Job = "a"
	}
	return op
}

func seen(state history.State) *history.Job {
	return &history.Job{ID: "a", SpecHash: "h", State: state}
}

func made() history.Operation {
	return history.Operation{Kind: history.Submit, SpecHash: "h", Outcome: history.OK, Created: true,
		Seen: seen(history.Queued)}
}

func same() history.Operation {
	return history.Operation{Kind: history.Submit, SpecHash: "h", Outcome: history.OK, Seen: seen(history.Queued)}
}

func lost(kind history.Kind) history.Operation {
	return history.Operation{Kind: kind, SpecHash: "h", Outcome: history.Unknown, Error: "no answer"}
}

func get(state history.State) history.Operation {
	return history.Operation{Kind: history.Get, Outcome: history.OK, Seen: seen(state)}
}

func none() history.Operation {
	return history.Operation{Kind: history.Get, Outcome: history.Refused, Code: history.NotFound}
}

func cancelled(state history.State) history.Operation {
	return history.Operation{Kind: history.Cancel, Outcome: history.OK, Seen: seen(state)}
}

func conflict(hash string) history.Operation {
	return history.Operation{Kind: history.Submit, SpecHash: hash, Outcome: history.Refused,
		Code: history.AlreadyExists}
}

func listed(state history.State) history.Operation {
	return history.Operation{Kind: history.List, Outcome: history.OK, Listed: []history.Job{*seen(state)}}
}

func ofRound(round uint32, model string) history.Operation {
	op := get(history.Running)
	op.Seen.Round, op.Seen.Model = round, model
	return op
}

func withHash(op history.Operation, hash string) history.Operation {
	job := *op.Seen
	job.SpecHash = hash
	op.Seen = &job
	return op
}

func ofSchedule(op history.Operation) history.Operation {
	job := *op.Seen
	job.Schedule = "s"
	op.Seen = &job
	return op
}

type ops = []history.Operation

func TestGoodHistories(t *testing.T) {
	for name, h := range map[string]ops{
		"nothing": nil,
		"a life": {at(0, 1, none()), at(2, 3, made()), at(4, 5, get(history.Queued)),
			at(6, 7, get(history.Running)), at(8, 9, get(history.Succeeded)), at(10, 11, get(history.Succeeded))},
		"stages nobody saw":          {at(0, 1, made()), at(2, 3, get(history.Failed))},
		"submitted again":            {at(0, 1, made()), at(2, 3, same())},
		"refused for another spec":   {at(0, 1, made()), at(2, 3, conflict("i"))},
		"seen before the answer":     {at(0, 9, made()), at(2, 3, get(history.Queued))},
		"not seen before the answer": {at(0, 9, made()), at(2, 3, none()), at(4, 5, get(history.Queued))},
		"an unknown submit that came through": {at(0, 1, lost(history.Submit)), at(2, 3, none()),
			at(9, 10, get(history.Queued))},
		"an unknown submit that did not":       {at(0, 1, lost(history.Submit)), at(2, 3, none()), at(9, 10, none())},
		"the same submit after an unknown one": {at(0, 1, lost(history.Submit)), at(2, 3, same())},
		"cancelled": {at(0, 1, made()), at(2, 3, cancelled(history.Cancelled)),
			at(4, 5, get(history.Cancelled))},
		"cancelled too late": {at(0, 1, made()), at(2, 3, cancelled(history.Succeeded)),
			at(4, 5, get(history.Succeeded))},
		"an unknown cancel that came through": {at(0, 1, made()), at(2, 3, lost(history.Cancel)),
			at(4, 5, get(history.Queued)), at(6, 7, get(history.Cancelled))},
		"an unknown cancel that was too late": {at(0, 1, made()), at(2, 3, lost(history.Cancel)),
			at(4, 5, get(history.Failed))},
		"a cancel of nothing": {at(0, 1,
			history.Operation{Kind: history.Cancel, Outcome: history.Refused, Code: history.NotFound}), at(2, 3,
			made())},
		"on a list": {at(0, 1, made()), at(2, 3, listed(history.Running)),
			at(4, 5, get(history.Running))},
		"a read that failed": {at(0, 1, made()), at(2, 3, lost(history.Get)),
			at(4, 5, get(history.Queued))},
		"a refusal that may hide an effect": {at(0, 1,
			history.Operation{Kind: history.Submit, SpecHash: "h", Outcome: history.Refused, Code: "unavailable"}), at(
			2, 3, get(history.Queued))},
		"a job of a tick": {at(0, 1, none()), at(2, 3, ofSchedule(get(history.Running))),
			at(4, 5, ofSchedule(get(history.Cancelled)))},
		"rounds go on": {at(0, 1, made()), at(2, 3, ofRound(1, "")), at(4, 5, ofRound(2, "m")),
			at(6, 7, ofRound(2, "m"))},
	} {
		if err := linear.Check(h); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadHistories(t *testing.T) {
	for name, h := range map[string]ops{
		"a stale read": {at(0, 1, made()), at(2, 3, none())},
		"a stale list": {at(0, 1, made()), at(2, 3, get(history.Succeeded)),
			at(4, 5, listed(history.Running))},
		"a lost acknowledgement":            {at(0, 1, made()), at(2, 3, get(history.Queued)), at(4, 5, none())},
		"a lost acknowledgement, made anew": {at(0, 1, made()), at(2, 3, made())},
		"made twice at once":                {at(0, 9, made()), at(1, 8, made())},
		"two specs":                         {at(0, 1, made()), at(2, 3, withHash(get(history.Queued), "i"))},
		"a conflict with itself":            {at(0, 1, made()), at(2, 3, conflict("h"))},
		"a conflict with nothing":           {at(0, 1, conflict("i")), at(2, 3, made())},
		"seen and gone while on its way":    {at(0, 9, made()), at(2, 3, get(history.Queued)), at(4, 5, none())},
		"unasked":                           {at(2, 3, get(history.Queued)), at(4, 5, made())},
		"unasked altogether":                {at(2, 3, listed(history.Queued))},
		"a stage back": {at(0, 1, made()), at(2, 3, get(history.Running)),
			at(4, 5, get(history.Planning))},
		"another end": {at(0, 1, made()), at(2, 3, get(history.Failed)),
			at(4, 5, get(history.Succeeded))},
		"a cancel that was undone": {at(0, 1, made()), at(2, 3, cancelled(history.Cancelled)),
			at(4, 5, get(history.Running))},
		"a cancel without effect": {at(0, 1, made()), at(2, 3, cancelled(history.Queued))},
		"cancelled by nobody":     {at(0, 1, made()), at(2, 3, get(history.Cancelled))},
		"an unknown cancel seen and undone": {at(0, 1, made()), at(2, 3, lost(history.Cancel)),
			at(4, 5, get(history.Cancelled)), at(6, 7, get(history.Queued))},
		"an unknown submit, seen and gone": {at(0, 1, lost(history.Submit)), at(2, 3, get(history.Queued)),
			at(4, 5, none())},
		"a round back":  {at(0, 1, made()), at(2, 3, ofRound(2, "")), at(4, 5, ofRound(1, ""))},
		"another model": {at(0, 1, made()), at(2, 3, ofRound(2, "m")), at(4, 5, ofRound(2, "n"))},
	} {
		err := linear.Check(h)
		if !errors.Is(err, linear.ErrViolation) || !strings.Contains(err.Error(), "job a") {
			t.Errorf("%s: %v, want a violation", name, err)
		}
	}
}

// One job of many has a stale read: it alone is named.
func TestTheJobIsNamed(t *testing.T) {
	var h ops
	for i := range 100 {
		id := fmt.Sprint("j", i)
		for _, op := range []history.Operation{at(0, 1, made()), at(2, 3, get(history.Queued))} {
			op.Job = id
			h = append(h, op)
		}
	}
	stale := at(4, 5, none())
	stale.Job = "j42"
	err := linear.Check(append(h, stale))
	if !errors.Is(err, linear.ErrViolation) || strings.Count(err.Error(), "not linearizable") != 1 ||
		!strings.Contains(err.Error(), "job j42") {
		t.Errorf("%v", err)
	}
	if calls, jobs := linear.Calls(h); calls != 200 || jobs != 100 {
		t.Errorf("%d calls of %d jobs", calls, jobs)
	}
}

// A job that goes through its life while clients call, some of whose answers are lost, gives a good
// history whatever the interleaving, and a bad one once an answer is swapped for an older one.
func TestAgainstARegister(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		h := simulate(rng)
		if err := linear.Check(h); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		last := time.Duration(0)
		for _, op := range h {
			last = max(last, op.Returned)
		}
		if err := linear.Check(append(h, at(int(last)+1, int(last)+2, none()))); !errors.Is(err, linear.ErrViolation) {
			t.Fatalf("seed %d: a stale read at the end: %v", seed, err)
		}
	}
}

// simulate lets six clients call at random: each call takes effect at one instant within it.
func simulate(rng *rand.Rand) ops {
	var h ops
	job, stage := false, 0
	stages := []history.State{history.Queued, history.Planning, history.Running, history.Succeeded}
	for now := 0; now < 300 || !job; now += 10 {
		if job && stage < 3 && rng.IntN(8) == 0 {
			stage++
		}
		op := get(stages[stage])
		switch submits := rng.IntN(3) == 0; {
		case submits && !job:
			job, op = true, made()
		case submits:
			op = same()
			op.Seen = seen(stages[stage])
		case !job:
			op = none()
		}
		if op.Kind == history.Submit && rng.IntN(4) == 0 {
			op = lost(history.Submit)
		}
		op.Client = 1 + now/10%6
		h = append(h, at(now-rng.IntN(50), now+rng.IntN(50), op))
	}
	return append(h, at(1000, 1001, get(stages[3])))
}
