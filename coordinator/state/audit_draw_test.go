package state_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// ticket is the number that a cluster with aSecret draws: of an HMAC-SHA256 of the purpose and the job's id, each
// behind its length, and of numbers of 64 bits. Members of two releases must draw the same.
func ticket(purpose, job string, numbers ...uint64) uint64 {
	text := append([]byte{byte(len(purpose))}, purpose...)
	text = append(append(text, byte(len(job))), job...)
	for _, n := range numbers {
		text = binary.BigEndian.AppendUint64(text, n)
	}
	mac := hmac.New(sha256.New, aSecret)
	mac.Write(text)
	return binary.BigEndian.Uint64(mac.Sum(nil))
}

// sampled is a planned job of whose nodes a share is audited.
func sampled(t *testing.T, id string, secret []byte, ppm uint32, trees ...uint32) state.State {
	t.Helper()
	submitted := submit(id, "h")
	submitted.GetSubmit().AuditPpm = ppm
	s, _ := run(t, state.New(), initCluster("c", secret), submitted, start(id))
	return wantVerdict(t, s, by("p", planned(id, trees...)), accepted)
}

// drawnNodes are the audited nodes of a job, as round/tree/level/index.
func drawnNodes(s state.State, id string) (nodes []string) {
	job, _ := s.Job(id)
	for _, a := range pendingAudits(job) {
		if a.Kind == pb.TaskKind_TASK_KIND_NODE {
			nodes = append(nodes, fmt.Sprintf("%d/%d/%d/%d", a.Round, a.Tree, a.Node.Level, a.Node.Index))
		}
	}
	return nodes
}

// A node is drawn when its number of a million lies below the share.
func TestTheShareThatIsDrawn(t *testing.T) {
	const leaves = 8
	ofPhase := uint32(ticket("phase", "a", 1) % leaves)
	for leaf := range uint32(leaves) {
		if leaf == ofPhase {
			continue
		}
		number := uint32(ticket("node", "a", 1, 0, 0, uint64(leaf)) % 1_000_000)
		for ppm, want := range map[uint32]int{number: 0, number + 1: 1} {
			s := wantVerdict(t, sampled(t, "a", aSecret, ppm, leaves), by("w", node("a", 1, 0, 0, leaf, 1)), accepted)
			if got := drawnNodes(s, "a"); len(got) != want {
				t.Errorf("leaf %d of number %d, share %d: drawn %v", leaf, number, ppm, got)
			}
		}
	}
}

// In whichever order the nodes of a phase's first round are committed, the first that holds the drawn leaf is audited,
// and no other: those above it are folded from it.
func TestTheFirstNodeOverTheDrawnLeaf(t *testing.T) {
	orders := [][][3]uint32{ // of tree, level, index; tree 0 has two leaves, tree 1 has three
		{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 1, 0}, {1, 2, 0}},
		{{1, 0, 0}, {1, 1, 0}, {1, 2, 0}, {0, 0, 0}, {0, 1, 0}},
		{{0, 0, 1}, {0, 1, 0}, {1, 0, 1}, {1, 0, 2}, {1, 1, 0}, {1, 2, 0}},
		{{1, 0, 1}, {1, 2, 0}, {0, 1, 0}},
	}
	met := make(map[uint64]bool)
	for i := range 20 {
		id := fmt.Sprint("job", i)
		at := ticket("phase", id, 1) % 5
		met[at] = true
		for _, order := range orders {
			s, want := sampled(t, id, aSecret, 1, 2, 3), ""
			for _, n := range order {
				s = wantVerdict(t, s, by("w", node(id, 1, n[0], n[1], n[2], 1)), accepted)
				from, to := protocol.Tree(2 + n[0]).Range(protocol.Node{Level: int(n[1]), Index: int(n[2])})
				if leaf := int(at) - 2*int(n[0]); want == "" && from <= leaf && leaf < to && (n[0] == 1) == (at >= 2) {
					want = fmt.Sprintf("1/%d/%d/%d", n[0], n[1], n[2])
				}
			}
			if got := drawnNodes(s, id); len(got) != 1 || got[0] != want {
				t.Errorf("job %s, leaf %d of both trees, order %v: drawn %v, want %s", id, at, order, got, want)
			}
		}
	}
	if len(met) != 5 {
		t.Errorf("the jobs draw the leaves %v alone", met)
	}
}

// A phase of several rounds has one node for certain; the next phase has another.
func TestEveryPhaseHasAnAudit(t *testing.T) {
	s := sampled(t, "a", aSecret, 1, 1)
	for round, next := range []string{"count", "count", "more", "more", "count"} {
		n := uint32(round) + 1
		s = wantVerdict(t, s, by("w", node("a", n, 0, 0, 0, 10)), accepted)
		s = wantVerdict(t, s, by("w", step("a", n, &pb.Next{Phase: next, Trees: []uint32{1}, State: ref(byte(n))})),
			accepted)
	}
	if got := drawnNodes(s, "a"); !slices.Equal(got, []string{"1/0/0/0", "4/0/0/0"}) {
		t.Errorf("phases begin with rounds 1 and 4; drawn: %v", got)
	}
}

// What is drawn is counted: the plan, a node, the step.
func TestDrawsAreCounted(t *testing.T) {
	s := audited(t, 1)
	last := step("a", 1, &pb.Next{Done: true, State: ref(9)})
	for want, c := range []*pb.Completion{nil, node("a", 1, 0, 0, 0, 1), last} {
		if c != nil {
			s = wantVerdict(t, s, by("x", c), accepted)
		}
		if job := auditedJob(t, s); job.Audits.Counts.Drawn != uint64(want)+1 || job.Audits.Pending() != want+1 {
			t.Errorf("%d audits pending, %+v; want %d drawn", job.Audits.Pending(), job.Audits.Counts, want+1)
		}
	}
}

// Without a share, a secret or a worker's id nothing is audited.
func TestJobsWithoutAudits(t *testing.T) {
	for name, c := range map[string]struct {
		secret []byte
		ppm    uint32
		worker string
	}{
		"no share":                     {aSecret, 0, "x"},
		"no secret":                    {nil, 1_000_000, "x"},
		"a worker of an older release": {aSecret, 1_000_000, ""},
	} {
		submitted := submit("a", "h")
		submitted.GetSubmit().AuditPpm = c.ppm
		s, _ := run(t, state.New(), initCluster("c", c.secret), submitted, start("a"))
		last := step("a", 1, &pb.Next{Done: true, State: ref(9)})
		for _, made := range []*pb.Completion{planned("a", 1), node("a", 1, 0, 0, 0, 1), last} {
			s = wantVerdict(t, s, by(c.worker, made), accepted)
		}
		if job := auditedJob(t, s); job.Audits.Pending() != 0 || job.Audits.Counts.Drawn != 0 {
			t.Errorf("%s: %d audits pending, %+v", name, job.Audits.Pending(), job.Audits.Counts)
		}
		wantVerdict(t, s, report("a"), accepted)
	}
}
