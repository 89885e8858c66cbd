package state_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// An audit of a node with very many carries can be written to a snapshot and read from it.
func TestAnAuditOfManyCarriesIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("commits 100,000 leaves")
	}
	const leaves, level = 100_000, 17
	object := func(n uint32) *pb.ObjectRef {
		return &pb.ObjectRef{Sha256: binary.BigEndian.AppendUint32(bytes.Repeat([]byte{1}, 28), n), Size: 1 << 20}
	}
	submitted := submit("a", "h")
	submitted.GetSubmit().AuditPpm = 1
	s, _ := run(t, state.New(), initCluster("c", aSecret), submitted, start("a"))
	s = wantVerdict(t, s, by("p", planned("a", leaves)), accepted)
	var batch []*pb.Completion
	for i := range uint32(leaves) {
		c := by("w", node("a", 1, 0, 0, i, 1))
		c.Output = &pb.TaskOutput{Object: object(i), Carry: object(leaves + i)}
		if batch = append(batch, c); len(batch) == 1000 {
			s, _ = run(t, s, completions(batch...))
			batch = nil
		}
	}
	s = wantVerdict(t, s, by("w", node("a", 1, 0, level, 0, 1)), accepted)
	s = wantVerdict(t, s, by("w", step("a", 1, count(9, leaves))), accepted)
	s = wantVerdict(t, s, by("w", node("a", 2, 0, level, 0, 1)), accepted)
	s = wantVerdict(t, s, by("x", node("a", 2, 0, level, 0, 2)), pb.Verdict_VERDICT_VIOLATION)
	most := 0
	auditedJob(t, reread(t, s)).Audits.Each(func(a *state.Audit) bool {
		most = max(most, len(a.Carries))
		return true
	})
	if most != leaves {
		t.Errorf("an audit of %d carries, want %d", most, leaves)
	}
}

// The carries of a node are found wherever it begins: those of other trees, and of leaves before or behind it, are not
// its.
func TestCarriesOfANode(t *testing.T) {
	s := audited(t, 8, 8)
	for tree := range uint32(2) {
		for _, n := range []struct{ level, index uint32 }{{0, 0}, {0, 1}, {1, 1}, {2, 1}} {
			c := by("w", node("a", 1, tree, n.level, n.index, 1))
			c.Output.Carry = ref(byte(10*tree + n.level + n.index + 1))
			s = wantVerdict(t, s, c, accepted)
		}
		s = wantVerdict(t, s, by("w", node("a", 1, tree, 3, 0, 2)), accepted)
	}
	s = wantVerdict(t, s, by("w", step("a", 1, count(9, 8, 8))), accepted)
	round := auditedJob(t, s).Rounds.Open
	for _, c := range []struct{ tree, first, end, want uint32 }{
		{0, 0, 8, 4}, {1, 0, 8, 4}, {1, 3, 4, 1}, {1, 3, 5, 2}, {0, 7, 8, 1}, {1, 0, 1, 1}, {1, 1, 2, 1},
	} {
		found := round.CarriesIn(c.tree, int(c.first), int(c.end))
		if len(found) != int(c.want) {
			t.Errorf("tree %d, leaves [%d, %d): %v", c.tree, c.first, c.end, found)
		}
		for _, f := range found {
			if f.Tree != c.tree || f.End <= c.first || f.First >= c.end {
				t.Errorf("tree %d, leaves [%d, %d): %v", c.tree, c.first, c.end, f)
			}
		}
	}
}

// The audit of a node keeps the carries that its leaves read; that of a node folded from pieces alone keeps none.
func TestAnAuditOfPiecesAloneKeepsNoCarries(t *testing.T) {
	s := audited(t, 8)
	for leaf := range uint32(8) {
		c := by("w", node("a", 1, 0, 0, leaf, 1))
		c.Output.Carry = ref(byte(leaf + 1))
		s = wantVerdict(t, s, c, accepted)
	}
	s = wantVerdict(t, s, by("w", node("a", 1, 0, 3, 0, 2)), accepted)
	s = wantVerdict(t, s, by("w", step("a", 1, &pb.Next{Phase: "count", Trees: []uint32{8}, State: ref(9)})), accepted)
	for _, n := range []struct {
		level, index uint32
		carries      int
	}{
		{0, 0, 1}, {0, 1, 1}, {1, 0, 0}, // of two leaves, both committed
		{0, 6, 1}, {0, 7, 1}, {1, 3, 0}, // the same far from the first leaf
		{2, 1, 4}, // two of its leaves are in a piece, two are not
		{2, 0, 4}, {3, 0, 0},
	} {
		s = wantVerdict(t, s, by("w", node("a", 2, 0, n.level, n.index, 3)), accepted)
		at := protocol.Node{Level: int(n.level), Index: int(n.index)}
		a, ok := auditedJob(t, s).Audits.Of(2, pb.TaskKind_TASK_KIND_NODE, 0, at)
		if !ok || len(a.Carries) != n.carries {
			t.Errorf("node %v is audited: %v; %+v, want %d carries", at, ok, a, n.carries)
		}
	}
}

// A job names the first 16 tasks that every worker failed to make again, and counts all.
func TestManyWaivedTasks(t *testing.T) {
	s := audited(t, 17)
	for leaf := range uint32(17) {
		task := node("a", 1, 0, 0, leaf, 1)
		s = wantVerdict(t, s, by("w", task), accepted)
		waive := &pb.WaiveAudits{Id: "a", Tasks: []*pb.TaskID{task.Id}}
		s, _ = run(t, s, &pb.Command{Body: &pb.Command_WaiveAudits{WaiveAudits: waive}})
		job := auditedJob(t, s)
		if job.Audits.Counts.Failed != uint64(leaf+1) || len(job.Audits.WaivedTasks) != min(int(leaf+1), 16) {
			t.Errorf("after %d: %d failed, %d of them named", leaf+1, job.Audits.Counts.Failed,
				len(job.Audits.WaivedTasks))
		}
	}
	named := auditedJob(t, s).Audits.WaivedTasks
	if named[0] != "round 1, tree 0, node 0/0" || named[15] != "round 1, tree 0, node 0/15" {
		t.Errorf("named: %v", named)
	}
}
