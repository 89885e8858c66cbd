package worker

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A worker outlives a restore: another job, or another plan of the same, may come under an id that it knows. What it
// keeps of the old one is of no use then.
func TestAnotherJobUnderAKnownID(t *testing.T) {
	o := newOffice()
	w := &worker{cfg: o.config(&bench{}, 1), store: o.store, cache: newBlockCache(1 << 20)}
	w.cfg.OpenInput, w.cfg.Logger = w.cfg.OpenStore, slog.New(slog.DiscardHandler)
	c := newJobCache(w)
	open := func(brief *pb.JobBrief) *job {
		t.Helper()
		j, err := c.open(t.Context(), brief)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	first := open(&pb.JobBrief{Id: "a", SpecJson: testSpec, SpecHash: "1"})
	if again := open(&pb.JobBrief{Id: "a", SpecJson: testSpec, SpecHash: "1"}); again != first {
		t.Error("the same job was opened anew")
	}
	other := open(&pb.JobBrief{Id: "a", SpecJson: testSpec, SpecHash: "2"})
	if other == first || len(c.jobs) != 1 {
		t.Fatal("a job of another spec was taken for the one that is known")
	}
	planned := func(n byte) *pb.JobBrief {
		ref := &pb.ObjectRef{Sha256: append(make([]byte, 31), n), Size: 1}
		return &pb.JobBrief{Id: "a", SpecJson: testSpec, SpecHash: "2", Manifest: ref, Plan: ref}
	}
	other.planned, other.planSum = true, planSumOf(planned(1))
	if same := open(planned(1)); same != other {
		t.Error("the same plan was read anew")
	}
	w.cache.lookup(setKey{other.cached(), jobs.Input}, 0)
	var fault *protocol.Fault
	if _, err := c.open(t.Context(), planned(2)); !errors.As(err, &fault) || fault.Code != protocol.CodeLost {
		t.Errorf("another plan was not looked for: %v", err) // there is none in this store
	}
	if len(w.cache.sets) != 0 {
		t.Error("blocks of the old plan are kept")
	}
}
