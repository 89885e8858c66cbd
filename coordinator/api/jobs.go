package api

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/listing"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Jobs implements gramv1connect.JobServiceHandler.
type Jobs struct {
	Cluster
	Commands     command.Maker
	Store        objstore.Store // holds the jobs' logs
	segmentLists segmentLists
}

// Submit validates the spec, writes its defaults in, and proposes the job.
func (s *Jobs) Submit(
	ctx context.Context, req *connect.Request[pb.SubmitRequest],
) (*connect.Response[pb.SubmitResponse], error) {
	spec, err := protocol.ParseSpec([]byte(req.Msg.GetSpecJson()))
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	view, _ := s.View()
	cmd, err := s.Commands.Job(view, req.Msg.GetId(), spec)
	if err != nil {
		return nil, err
	}
	cmd.SubmittedBy = gate.CallerOf(ctx).TokenID
	if err := s.Fits(cmd); err != nil {
		return nil, err
	}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_Submit{Submit: cmd}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.SubmitResponse{Job: s.Describe(reply.Job), Created: reply.Created}), nil
}

// Get reads one job, by id or reference.
func (s *Jobs) Get(
	ctx context.Context, req *connect.Request[pb.GetRequest],
) (*connect.Response[pb.GetResponse], error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	job, refused := view.Resolve(req.Msg.GetId())
	if refused != nil {
		return nil, refused
	}
	out := s.Describe(job)
	out.Eta = s.ETA(job)
	return connect.NewResponse(&pb.GetResponse{Job: out}), nil
}

// List returns a page of the jobs that a filter lets through.
func (s *Jobs) List(
	ctx context.Context, req *connect.Request[pb.ListRequest],
) (*connect.Response[pb.ListResponse], error) {
	query, err := listing.Parse(req.Msg, s.Wall().UnixMilli())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	page := query.Page(view)
	return connect.NewResponse(&pb.ListResponse{Jobs: s.Brief(view, page.Jobs), NextPageToken: page.Next,
		Matching: uint32(page.Matching), Kinds: page.Kinds}), nil
}

// Cancel proposes the end of a job.
func (s *Jobs) Cancel(
	ctx context.Context, req *connect.Request[pb.CancelRequest],
) (*connect.Response[pb.CancelResponse], error) {
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: req.Msg.GetId()}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.CancelResponse{Job: s.Describe(reply.Job)}), nil
}
