package state

import (
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Alias is a name for a job's model. It moves only when somebody moves it.
type Alias struct {
	Name, JobID string
	SetAt       int64 // Unix milliseconds, as proposed
}

// Alias returns the alias with this name.
func (s State) Alias(name string) (Alias, bool) { return s.aliases.Get([]byte(name)) }

// AliasCount is how many aliases there are.
func (s State) AliasCount() int { return s.aliases.Len() }

// EachAlias visits the aliases in order of name until visit returns false.
func (s State) EachAlias(visit func(Alias) bool) {
	s.aliases.Root().Walk(func(_ []byte, a Alias) bool { return !visit(a) })
}

func (s State) putAlias(a Alias) State {
	s.aliases, _, _ = s.aliases.Insert([]byte(a.Name), a)
	return s
}

func (a Alias) record() *pb.AliasRecord {
	return &pb.AliasRecord{Name: a.Name, JobId: a.JobID, SetUnixMs: a.SetAt}
}

func aliasFrom(r *pb.AliasRecord) Alias {
	return Alias{Name: r.GetName(), JobID: r.GetJobId(), SetAt: r.GetSetUnixMs()}
}

// applySetAlias moves a name to the model of a job that has succeeded. What is so already stays
// as it is, whatever was expected: the call may have been repeated.
func applySetAlias(s State, cmd *pb.SetAlias) (State, Reply) {
	if !ValidJobID(cmd.GetName()) {
		return s, reject(Malformed, "alias %q: use 1 to 63 of a-z, 0-9 and -, not beginning with -",
			Clip(cmd.GetName(), 64))
	}
	job, ok := s.Job(cmd.GetJobId())
	switch {
	case !ok:
		return s, reject(NotFound, "no job %q", Clip(cmd.GetJobId(), 64))
	case !job.HasModel():
		return s, reject(Ended, "job %s has no model: it has not succeeded, or leaves none", job.ID)
	}
	old, exists := s.Alias(cmd.GetName())
	switch {
	case exists && old.JobID == job.ID:
		return s, Reply{Job: job, Alias: old, Previous: old.JobID}
	case cmd.GetCheck() && old.JobID != cmd.GetExpectJob():
		return s, unexpected(cmd.GetName(), old, cmd.GetExpectJob())
	case !exists && s.AliasCount() >= MaxAliases:
		return s, reject(Exhausted, "there are %d aliases already; remove one", MaxAliases)
	}
	alias := Alias{Name: cmd.GetName(), JobID: job.ID, SetAt: s.Now}
	return s.putAlias(alias), Reply{Job: job, Alias: alias, Previous: old.JobID, Created: !exists}
}

func unexpected(name string, is Alias, expected string) Reply {
	text := func(job string) string {
		if job == "" {
			return "nothing"
		}
		return "job " + Clip(job, 64)
	}
	return reject(Conflict, "alias @%s means %s now, not %s", name, text(is.JobID), text(expected))
}

func applyRemoveAlias(s State, cmd *pb.RemoveAlias) (State, Reply) {
	old, ok := s.Alias(cmd.GetName())
	switch {
	case !ok:
		return s, reject(NotFound, "no alias @%s", Clip(cmd.GetName(), 64))
	case cmd.GetCheck() && old.JobID != cmd.GetExpectJob():
		return s, unexpected(cmd.GetName(), old, cmd.GetExpectJob())
	}
	s.aliases, _, _ = s.aliases.Delete([]byte(old.Name))
	return s, Reply{Alias: old, Previous: old.JobID}
}

// writeUpkeep writes retired jobs, then aliases.
func (o *recordWriter) writeUpkeep(s State) {
	retired := &pb.RetiredRecord{} // one for all: there may be very many
	record := &pb.SnapshotRecord{Body: &pb.SnapshotRecord_Retired{Retired: retired}}
	s.Retired.Each(func(r Retired) bool {
		r.fill(retired)
		o.write(record)
		return o.err == nil
	})
	s.EachAlias(func(a Alias) bool {
		o.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Alias{Alias: a.record()}})
		return o.err == nil
	})
}
