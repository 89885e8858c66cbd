package lead

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/hashicorp/raft"
)

// A checkpoint is due after a number of entries, or a time after the last one, however quiet the log is.
func TestCheckpointIsDue(t *testing.T) {
	var table checkTable
	const every, after = 100, 10 * time.Minute
	for _, c := range []struct {
		applied, own uint64
		now          time.Duration
		due          bool
	}{
		{50, 0, time.Hour, false}, // a new leader's first look
		{99, 0, time.Hour + time.Second, false},
		{100, 0, time.Hour + time.Second, true},
		{150, 60, time.Hour + time.Second, false}, // an earlier leader made one at 60
		{50, 0, time.Hour + after - 1, false},
		{50, 0, time.Hour + after, true},
	} {
		if got := table.due(c.applied, c.own, every, c.now, after); got != c.due {
			t.Errorf("%+v: %v", c, got)
		}
	}
	table.propose(150, 2*time.Hour)
	for now, due := range map[time.Duration]bool{2*time.Hour + after - 1: false, 2*time.Hour + after: true} {
		if got := table.due(151, 0, every, now, after); got != due {
			t.Errorf("%v: %v", now, got)
		}
	}
}

// The table, by hand: digests are letters.
func TestCheckTable(t *testing.T) {
	type told map[raft.ServerID]node.Checkpoint
	at := func(index uint64, digest string) node.Checkpoint {
		return node.Checkpoint{Index: index, Digest: []byte(digest)}
	}
	for name, c := range map[string]struct {
		told     told
		agreed   node.Checkpoint
		findings int
	}{
		"nothing":                {told{}, node.Checkpoint{}, 0},
		"one of three":           {told{"a": at(5, "x")}, node.Checkpoint{}, 0},
		"two of three":           {told{"a": at(5, "x"), "b": at(5, "x")}, at(5, "x"), 0},
		"all":                    {told{"a": at(5, "x"), "b": at(5, "x"), "c": at(5, "x")}, at(5, "x"), 0},
		"one is behind":          {told{"a": at(9, "y"), "b": at(9, "y"), "c": at(5, "x")}, at(9, "y"), 0},
		"two differ so far":      {told{"a": at(5, "x"), "b": at(5, "y")}, node.Checkpoint{}, 0},
		"one differs":            {told{"a": at(5, "x"), "b": at(5, "y"), "c": at(5, "x")}, at(5, "x"), 1},
		"all differ":             {told{"a": at(5, "x"), "b": at(5, "y"), "c": at(5, "z")}, node.Checkpoint{}, 3},
		"somebody without voice": {told{"a": at(5, "x"), "b": at(5, "y"), "d": at(5, "y")}, node.Checkpoint{}, 0},
	} {
		var table checkTable
		for id, c := range c.told {
			table.note(id, c)
		}
		for range 2 { // it is said once
			findings := table.judge([]raft.ServerID{"c", "a", "b"})
			if got := table.agreement(); got.Index != c.agreed.Index || string(got.Digest) != string(c.agreed.Digest) ||
				len(findings) != c.findings {
				t.Errorf("%s: agreed %v, findings %q; want %v and %d", name, got, findings, c.agreed, c.findings)
			}
			c.findings = 0
		}
	}
}
