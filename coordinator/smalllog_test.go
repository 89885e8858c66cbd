package coordinator

import (
	"testing"

	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// However much is written, the log's file and the snapshots stay below a bound, and a restart finds all.
func TestTheLogStaysSmall(t *testing.T) {
	t.Parallel()
	const limit, entry, entries = 2 << 20, 200 << 10, 200 // 40 MiB
	cfg := testConfig(t.TempDir())
	cfg.snapshotBytes = limit
	c := startTest(t, cfg)
	// Refused, and logged.
	big := &pb.Command{Body: &pb.Command_Submit{Submit: &pb.SubmitJob{Id: "x", SpecJson: make([]byte, entry)}}}
	largest := uint64(0)
	for range entries {
		if reply, err := c.leads.Log().Propose(t.Context(), big); err != nil || reply.Err == nil {
			t.Fatal(reply, err)
		}
		log, snapshots := node.DiskUse(cfg.DataDir)
		largest = max(largest, log+snapshots)
	}
	submitTest(t, c, "a")
	// What trails (64 entries are left at least), what is new, as much that is being cut off, and bbolt's
	// growth by 16 MiB at a time.
	if bound := uint64(64*entry + 2*limit + 16<<20); largest > bound {
		t.Errorf("the store grew to %d bytes, bound %d", largest, bound)
	}
	stopTest(t, c)
	if job := getTest(t, startTest(t, cfg), "a"); job.GetId() != "a" {
		t.Error("the job is gone after a restart")
	}
}
