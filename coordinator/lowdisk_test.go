package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// tank is a disk whose free space a test sets.
type tank struct{ free atomic.Uint64 }

const tankSize = 100 << 30

func newTank(cfg *Config) *tank {
	var d tank
	d.free.Store(tankSize / 2)
	cfg.diskSpace = func(string) (node.Space, error) { return node.Space{Free: d.free.Load(), Size: tankSize}, nil }
	return &d
}

// A leader whose disk is low hands over to a member with room, and back when the other's is low.
func TestTheLeadGoesWhereThereIsRoom(t *testing.T) {
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	tanks := make(map[string]*tank)
	for _, id := range []string{"c1", "c2"} {
		cfg := q.config(id, t.TempDir())
		tanks[id] = newTank(&cfg)
		if _, err := q.startWith(cfg); err != nil {
			t.Fatal(err)
		}
	}
	q.awaitVotes(2)
	for range 2 {
		first := q.leader()
		for id, d := range tanks {
			d.free.Store(tankSize / 2)
			if id == first.cfg.NodeID {
				d.free.Store(1 << 30)
			}
		}
		q.poll("another leader", func() bool {
			for _, c := range q.members {
				if c.leads.Leads() && c != first {
					return true
				}
			}
			return false
		})
	}
}

// With nobody to hand over to, a leader takes no new jobs; the old ones it answers for, lets end and cancels.
func TestALowDiskTakesNoNewJobs(t *testing.T) {
	cfg := testConfig(t.TempDir())
	d := newTank(&cfg)
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	d.free.Store(1 << 30)
	lead.DiskWatch{Leader: c.leads}.LookAtDisk(t.Context())
	jobs := c.services.Jobs
	_, err := jobs.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: "b", SpecJson: testSpec("b")}))
	if connect.CodeOf(outcome.Wire(err)) != connect.CodeResourceExhausted {
		t.Errorf("a new job: %v", err)
	}
	submitTest(t, c, "a") // the same again
	if _, err := jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"})); err != nil {
		t.Error(err)
	}
	wantMetrics(t, c, map[string]float64{"gram_disk_low": 1, "gram_disk_free_bytes": 1 << 30,
		"gram_disk_size_bytes": tankSize})
	wantPage(t, c, "/readyz", 200, "ok")
	d.free.Store(tankSize / 2)
	lead.DiskWatch{Leader: c.leads}.LookAtDisk(t.Context())
	submitTest(t, c, "b")
}

func TestAFullDiskEndsTheProcess(t *testing.T) {
	cfg := testConfig(t.TempDir())
	d := newTank(&cfg)
	c := startTest(t, cfg)
	d.free.Store(1)
	lead.DiskWatch{Leader: c.leads}.LookAtDisk(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	select {
	case err := <-c.Failed():
		if !errors.Is(err, node.ErrDiskFull) {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("it goes on")
	}
	wantPage(t, c, "/healthz", 503, "failed")
}
