package state_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
)

// disputedLeaf is a job with three audits pending: of its plan, of a leaf with two results, and of a node above it.
func disputedLeaf(t *testing.T) state.State {
	t.Helper()
	s := audited(t, 2)
	s = wantVerdict(t, s, by("x", node("a", 1, 0, 0, 0, 10)), accepted)
	s = wantVerdict(t, s, by("l", node("a", 1, 0, 0, 0, 66)), heard)
	return wantVerdict(t, s, by("y", node("a", 1, 0, 1, 0, 12)), accepted)
}

// Pending audits go on after a snapshot where they were: the third worker decides.
func TestAuditsOfASnapshot(t *testing.T) {
	s := disputedLeaf(t)
	read := reread(t, s)
	was, is := pendingAudits(auditedJob(t, s)), pendingAudits(auditedJob(t, read))
	if len(was) != 3 || len(is) != 3 {
		t.Fatalf("%d audits pending, %d in the snapshot", len(was), len(is))
	}
	for i, a := range is {
		same := slices.Equal(a.Opinions, was[i].Opinions) && len(a.Pieces) == len(was[i].Pieces) &&
			a.Makers == was[i].Makers
		if !same || a.String() != was[i].String() {
			t.Errorf("%+v became %+v", was[i], a)
		}
	}
	read = wantVerdict(t, read, by("z", node("a", 1, 0, 0, 0, 10)), heard)
	job := auditedJob(t, read)
	if len(job.Audits.Convicted) != 1 || job.Audits.Convicted[0].WorkerID != "l" || job.Audits.Pending() != 2 {
		t.Errorf("%d audits pending, %+v", job.Audits.Pending(), job.Audits.Convicted)
	}
}

// seal writes records as a snapshot, with a trailer that is right.
func seal(t *testing.T, all []*pb.SnapshotRecord) *bytes.Buffer {
	t.Helper()
	text := new(bytes.Buffer)
	for _, r := range all {
		if _, err := protodelim.MarshalTo(text, r); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(text.Bytes())
	trailer := &pb.SnapshotTrailer{Records: uint64(len(all)), Sha256: sum[:]}
	last := &pb.SnapshotRecord{Body: &pb.SnapshotRecord_Trailer{Trailer: trailer}}
	if _, err := protodelim.MarshalTo(text, last); err != nil {
		t.Fatal(err)
	}
	return text
}

// An audit belongs to the job before it, and has the results it compares.
func TestAuditsThatAreNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*pb.AuditRecord)
		says  string
	}{
		"none":        {func(*pb.AuditRecord) {}, ""},
		"another job": {func(r *pb.AuditRecord) { r.Id.JobId = "b" }, "an audit of no job"},
		"no result":   {func(r *pb.AuditRecord) { r.Opinions = nil }, "without a result"},
		"half a result": {func(r *pb.AuditRecord) { r.Opinions[0].Sum = r.Opinions[0].Sum[:16] },
			"an opinion of nothing"},
		"no basis":      {func(r *pb.AuditRecord) { r.Opinions[0].Basis = nil }, "an opinion of nothing"},
		"a long result": {func(r *pb.AuditRecord) { r.Opinions[0].Sum = make([]byte, 33) }, "an opinion of nothing"},
		"an empty one": {
			func(r *pb.AuditRecord) { r.Opinions = append(r.Opinions, &pb.Opinion{}) }, "an opinion of nothing",
		},
	} {
		all := records(t, disputedLeaf(t))
		at := slices.IndexFunc(all, func(r *pb.SnapshotRecord) bool { return r.GetAudit() != nil })
		c.spoil(all[at].GetAudit())
		_, err := state.Decode(seal(t, all))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := state.Decode(seal(t, []*pb.SnapshotRecord{all[0], all[at]})); err == nil {
			t.Errorf("%s: an audit was read with no job before it", name)
		}
	}
}
