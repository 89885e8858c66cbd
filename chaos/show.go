package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gram-compute/gram/chaos/checker"
	"github.com/gram-compute/gram/chaos/history"
	"github.com/gram-compute/gram/chaos/nemesis"
	"github.com/gram-compute/gram/chaos/storefault"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// facts are the counts of a run.
type facts struct {
	Seed            uint64
	Took            time.Duration
	Operations      map[history.Outcome]int
	Jobs            map[string]int // by state
	Ticks           uint64
	Faults, NotDone int
	Requests        int // of the store that suffered a fault
	Restarted       int // processes that ended by themselves
	Retired         int // jobs
	Terms           uint64
}

func (t *trial) facts(e *checker.Evidence) facts {
	f := facts{Seed: t.seed, Took: time.Since(t.began), Operations: make(map[history.Outcome]int),
		Jobs: make(map[string]int), Restarted: len(t.exits)}
	for _, op := range e.Operations {
		f.Operations[op.Outcome]++
		if op.Status != nil {
			f.Terms = max(f.Terms, op.Status.Term)
		}
	}
	for _, job := range e.Jobs {
		f.Jobs[pb.JobState_name[int32(job.GetState())]]++
	}
	for _, s := range e.Sightings {
		if !s.Gone.IsZero() {
			f.Retired++
		}
	}
	for _, s := range e.Schedules {
		f.Ticks += s.GetFired() + s.GetSkipped()
	}
	for _, c := range t.nemesis.Tally() {
		f.Faults += c.Done
		f.NotDone += c.NotDone
	}
	for _, n := range t.proxy.Counts() {
		f.Requests += n
	}
	return f
}

// show writes the tables of a run, for 80 columns.
func show(to io.Writer, o *outcome) {
	w := &printer{to: to}
	tally, requests := o.trial.nemesis.Tally(), o.trial.proxy.Counts()
	w.line("\n%-44s %6s %9s %9s", "FAULT", "DONE", "NOT DONE", "REQUESTS")
	for _, kind := range nemesis.Kinds() {
		c := tally[kind]
		hit := ""
		for _, f := range storefault.Faults {
			if nemesis.StoreKind(f) == kind {
				hit = fmt.Sprint(requests[f])
			}
		}
		if c.Done+c.NotDone == 0 {
			w.line("%-44s not counted: it was never due", kind)
			continue
		}
		w.line("%-44s %6d %9d %9s", kind, c.Done, c.NotDone, hit)
	}
	for _, kind := range nemesis.Kinds() {
		if c := tally[kind]; c.NotDone > 0 {
			w.line("not done: %s: %.60s", kind, c.Why)
		}
	}
	f := o.facts
	w.line("%-44s %6d %9d %9d", "all", f.Faults, f.NotDone, f.Requests)
	w.line("\n%-4s %-60s %7s %6s", "", "INVARIANT", "CHECKED", "FOUND")
	for _, r := range o.results {
		w.line("%-4s %-60s %7d %6d", r.ID, r.Says, r.Checked, len(r.Found))
	}
	w.line("\nseed %d, %v: %d operations answered, %d refused, %d of unknown outcome", f.Seed,
		f.Took.Round(time.Second),
		f.Operations[history.OK], f.Operations[history.Refused], f.Operations[history.Unknown])
	w.line("jobs: %d succeeded, %d cancelled, %d failed, %d of them retired; %d ticks", f.Jobs["JOB_STATE_SUCCEEDED"],
		f.Jobs["JOB_STATE_CANCELLED"], f.Jobs["JOB_STATE_FAILED"], f.Retired, f.Ticks)
	w.line("term %d; %d processes ended by themselves", f.Terms, f.Restarted)
	w.showUsage(o.trial.usage)
	for _, r := range o.results {
		w.violations(r)
	}
}

// mostShown bounds what is printed of one invariant's violations.
const mostShown = 10

type printer struct{ to io.Writer }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.to, format+"\n", args...) }

func (p *printer) violations(r checker.Result) {
	if r.Err != nil {
		p.line("%s could not be judged: %v", r.ID, r.Err)
	} else if r.Checked == 0 {
		p.line("%s was not tested: nothing could be checked by it", r.ID)
	}
	for i, found := range r.Found {
		if i == mostShown {
			p.line("%s ... and %d more", r.ID, len(r.Found)-i)
			return
		}
		p.line("%s violated: %s", r.ID, found)
	}
}
