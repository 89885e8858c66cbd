package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Workers implements gramv1connect.WorkerServiceHandler.
type Workers struct {
	Leases    Leases
	LeaseTTL  time.Duration
	StoreURI  string
	ClusterID func() string // that the store must name; "" for a cluster in memory
}

// Leases grants leases and takes results.
type Leases interface {
	Register(ctx context.Context, worker schedule.Worker, req *pb.RegisterRequest) error
	Lease(ctx context.Context, req *pb.LeaseRequest) (*pb.LeaseResponse, error)
	Heartbeat(ctx context.Context, req *pb.HeartbeatRequest) (*pb.HeartbeatResponse, error)
	Complete(ctx context.Context, req *pb.CompleteRequest) (*pb.CompleteResponse, error)
}

// Register makes a worker known to the leader.
func (s *Workers) Register(
	ctx context.Context, req *connect.Request[pb.RegisterRequest],
) (*connect.Response[pb.RegisterResponse], error) {
	m := req.Msg
	if m.GetWorkerId() == "" || len(m.GetWorkerId()) > 128 || m.GetSlots() < 1 || m.GetSlots() > 4096 {
		return nil, connect.NewError(connect.CodeInvalidArgument,
			errors.New("a worker needs an id of at most 128 bytes and 1 to 4096 slots"))
	}
	kernels := max(len(m.GetKernels()), len(m.GetOtherKernels()))
	if len(m.GetName()) > 256 || kernels > 64 || len(m.GetBuild()) > 256 { // they enter the log with each result
		return nil, connect.NewError(connect.CodeInvalidArgument,
			errors.New("a worker's name and build have at most 256 bytes each, its kernel set 64"))
	}
	for _, text := range []string{m.GetWorkerId(), m.GetName(), m.GetKernels(), m.GetOtherKernels(), m.GetBuild()} {
		if strings.ContainsFunc(text, protocol.Steers) {
			return nil, connect.NewError(connect.CodeInvalidArgument,
				fmt.Errorf("a worker's id, name, kernel set and build hold no control characters: %q", text))
		}
	}
	worker := schedule.Worker{
		ID: m.GetWorkerId(), Name: m.GetName(), Kernels: m.GetKernels(), Other: m.GetOtherKernels(),
		Build: m.GetBuild(),
		Slots: int(m.GetSlots()), Memory: max(m.GetMemoryBytes(), 0), FoldsInSteps: m.GetFoldsInSteps(),
	}
	if err := s.Leases.Register(ctx, worker, m); err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RegisterResponse{
		LeaseTtlMs:  uint32(s.LeaseTTL.Milliseconds()),
		HeartbeatMs: uint32(max(1, (s.LeaseTTL / 3).Milliseconds())),
		StoreUri:    s.StoreURI, ClusterId: s.ClusterID(),
	}), nil
}

// Lease waits for work until there is some or the wait is over.
func (s *Workers) Lease(
	ctx context.Context, req *connect.Request[pb.LeaseRequest],
) (*connect.Response[pb.LeaseResponse], error) {
	return respond(s.Leases.Lease(ctx, req.Msg))
}

// Heartbeat renews leases.
func (s *Workers) Heartbeat(
	ctx context.Context, req *connect.Request[pb.HeartbeatRequest],
) (*connect.Response[pb.HeartbeatResponse], error) {
	return respond(s.Leases.Heartbeat(ctx, req.Msg))
}

// Complete commits results and takes failures into account.
func (s *Workers) Complete(
	ctx context.Context, req *connect.Request[pb.CompleteRequest],
) (*connect.Response[pb.CompleteResponse], error) {
	return respond(s.Leases.Complete(ctx, req.Msg))
}
