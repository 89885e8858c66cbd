package lead

import (
	"context"

	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// Status tells how the cluster is, as the leader sees it.
func (c *Leader) Status(ctx context.Context, req *pb.StatusRequest) (*pb.StatusResponse, error) {
	if _, _, err := c.Read(ctx); err != nil {
		return nil, err
	}
	lead, err := c.Leadership()
	if err != nil {
		return nil, err
	}
	view, index := c.fsm.At()
	res := &pb.StatusResponse{
		ClusterId: view.ClusterID, Leader: c.cfg.NodeID, Term: lead.Term, AppliedIndex: index,
		Version: c.cfg.Version, StoreUri: c.cfg.StoreURI,
		JobsActive: uint32(view.ActiveCount()), JobsTotal: uint32(view.JobCount()),
		JobsRetired: uint32(view.Retired.Count()), Aliases: uint32(view.AliasCount()),
		RestoreEpoch: view.Epoch, SchedulesHeldUnixMs: view.HeldSince,
		WorkersConvicted: uint32(view.Convicted.Count()),
	}
	if !req.GetBrief() {
		digest := view.Digest()
		res.StateSha256 = digest[:]
	}
	res.RaftLogBytes, res.RaftSnapshotBytes = node.DiskUse(c.cfg.DataDir)
	c.addLeaderMemory(lead, res)
	lead.table.describe(res)
	res.Clock = c.clock.Status(view)
	return res, nil
}

func (c *Leader) addLeaderMemory(lead *Leadership, res *pb.StatusResponse) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	counts := lead.board.Jobs.Counts
	res.LeasesGranted, res.LeasesExpired, res.CommittedLeased = counts.Granted, counts.Expired, counts.CommittedLeased
	copies := counts.SpeculativeCopies
	res.SpeculativeCopies = &pb.SpeculativeCopies{Launched: copies.Launched, Won: copies.Won, Wasted: copies.Wasted}
	res.Sweeps = proto.CloneOf(&lead.swept)
	now := c.clock.Mono()
	view, _ := c.fsm.View()
	res.TasksWaiting = uint32(lead.board.Load(view, now).Waiting)
	res.StoreDeniedJobs, res.StoreDenied = uint32(lead.board.Store.DeniedJobs()), lead.board.Store.Says()
	tasks := lead.board.Jobs.LeasedBy()
	for _, w := range lead.board.Roster.Live(now) {
		res.Workers = append(res.Workers, &pb.WorkerStatus{
			WorkerId: w.ID, Name: w.Name, Slots: uint32(w.Slots), Tasks: uint32(tasks[w.ID]),
			Kernels: w.Kernels, Build: w.Build, LastSeenUnixMs: c.clock.started.Add(w.LastSeen).UnixMilli(),
			MemoryBytes: w.Memory, Quarantine: w.Quarantine(now),
		})
	}
}
