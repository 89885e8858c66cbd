package coordinator

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/node"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

type clusterService struct{ c *Coordinator }

// Status tells how the cluster is, as the leader sees it.
func (s *clusterService) Status(ctx context.Context, _ *connect.Request[pb.StatusRequest]) (*connect.Response[pb.StatusResponse], error) {
	if _, _, err := s.c.read(ctx); err != nil {
		return nil, err
	}
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	view, index := s.c.fsm.At()
	digest := view.Digest()
	res := &pb.StatusResponse{
		ClusterId: view.ClusterID, Leader: s.c.cfg.NodeID, Term: lead.term, AppliedIndex: index,
		Version: s.c.cfg.Version, StoreUri: s.c.cfg.StoreURI,
		JobsActive: uint32(view.ActiveCount()), JobsTotal: uint32(view.JobCount()), StateSha256: digest[:],
		JobsRetired: uint32(view.RetiredCount()), Aliases: uint32(view.AliasCount()),
		RestoreEpoch: view.Epoch, SchedulesHeldUnixMs: view.HeldSince,
	}
	res.RaftLogBytes, res.RaftSnapshotBytes = node.DiskUse(s.c.cfg.DataDir)
	s.c.addLeaderMemory(lead, res)
	lead.table.describe(res)
	res.Clock = s.c.clockStatus(view)
	return connect.NewResponse(res), nil
}

func (c *Coordinator) addLeaderMemory(lead *leadership, res *pb.StatusResponse) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	counts := lead.board.Counts
	res.LeasesGranted, res.LeasesExpired, res.CommittedLeased = counts.Granted, counts.Expired, counts.CommittedLeased
	res.Backups = &pb.Backups{Launched: counts.Backups.Launched, Won: counts.Backups.Won, Wasted: counts.Backups.Wasted}
	res.Sweeps = proto.CloneOf(&lead.swept)
	now := c.now()
	for _, w := range lead.board.Workers(now) {
		res.Workers = append(res.Workers, &pb.WorkerStatus{
			WorkerId: w.ID, Name: w.Name, Slots: uint32(w.Slots), Tasks: uint32(lead.board.Leased("", w.ID)),
			Kernels: w.Kernels, Build: w.Build, LastSeenUnixMs: c.started.Add(w.LastSeen).UnixMilli(),
			MemoryBytes: w.Memory, Quarantine: w.Quarantine(now),
		})
	}
}
