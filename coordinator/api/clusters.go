package api

import (
	"context"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Clusters implements gramv1connect.ClusterServiceHandler.
type Clusters struct {
	Cluster
	Membership Membership
	Keeper     Keeper
}

// Membership changes who belongs to the cluster.
type Membership interface {
	List(ctx context.Context) (*pb.MembersResponse, error)
	Join(ctx context.Context, req *pb.JoinRequest) (*pb.JoinResponse, error)
	Remove(ctx context.Context, req *pb.RemoveRequest) (*pb.RemoveResponse, error)
	Move(ctx context.Context, req *pb.MoveRequest) (*pb.MoveResponse, error)
	Health(req *pb.HealthRequest) *pb.HealthResponse
}

// Keeper keeps the cluster in order.
type Keeper interface {
	Status(ctx context.Context, req *pb.StatusRequest) (*pb.StatusResponse, error)
	AcceptClock(ctx context.Context) (*pb.AcceptClockResponse, error)
	Sweep(ctx context.Context, dry bool) (*pb.SweepResponse, error)
}

// Status tells how the cluster is, as the leader sees it.
func (s *Clusters) Status(
	ctx context.Context, req *connect.Request[pb.StatusRequest],
) (*connect.Response[pb.StatusResponse], error) {
	return respond(s.Keeper.Status(ctx, req.Msg))
}

// AcceptClock trusts the leader's wall clock as it is.
func (s *Clusters) AcceptClock(
	ctx context.Context, _ *connect.Request[pb.AcceptClockRequest],
) (*connect.Response[pb.AcceptClockResponse], error) {
	return respond(s.Keeper.AcceptClock(ctx))
}

// Members lists the coordinators.
func (s *Clusters) Members(
	ctx context.Context, _ *connect.Request[pb.MembersRequest],
) (*connect.Response[pb.MembersResponse], error) {
	return respond(s.Membership.List(ctx))
}

// Join adds a coordinator without a vote.
func (s *Clusters) Join(
	ctx context.Context, req *connect.Request[pb.JoinRequest],
) (*connect.Response[pb.JoinResponse], error) {
	return respond(s.Membership.Join(ctx, req.Msg))
}

// Remove takes a coordinator out of the cluster.
func (s *Clusters) Remove(
	ctx context.Context, req *connect.Request[pb.RemoveRequest],
) (*connect.Response[pb.RemoveResponse], error) {
	return respond(s.Membership.Remove(ctx, req.Msg))
}

// Upkeep implements gramv1connect.UpkeepServiceHandler.
type Upkeep struct{ Keeper Keeper }

// Sweep sweeps now, and looks everywhere.
func (s *Upkeep) Sweep(
	ctx context.Context, req *connect.Request[pb.SweepRequest],
) (*connect.Response[pb.SweepResponse], error) {
	return respond(s.Keeper.Sweep(ctx, req.Msg.GetDryRun()))
}

// Peers implements gramv1connect.PeerServiceHandler, for the other members.
type Peers struct{ Membership Membership }

// Health tells how far this member is.
func (s *Peers) Health(
	_ context.Context, req *connect.Request[pb.HealthRequest],
) (*connect.Response[pb.HealthResponse], error) {
	return connect.NewResponse(s.Membership.Health(req.Msg)), nil
}

// Move corrects a member's address.
func (s *Peers) Move(
	ctx context.Context, req *connect.Request[pb.MoveRequest],
) (*connect.Response[pb.MoveResponse], error) {
	return respond(s.Membership.Move(ctx, req.Msg))
}

// respond wraps an answer.
func respond[T any](res *T, err error) (*connect.Response[T], error) {
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(res), nil
}
