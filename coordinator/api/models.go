package api

import (
	"context"
	"log/slog"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/findings"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Models implements gramv1connect.ModelServiceHandler.
type Models struct {
	Cluster
	Store    objstore.Store // the cluster's own
	Findings *findings.Reader
	Logger   *slog.Logger
}

// SetAlias proposes what a name means.
func (s *Models) SetAlias(
	ctx context.Context, req *connect.Request[pb.SetAliasRequest],
) (*connect.Response[pb.SetAliasResponse], error) {
	job, err := resolve(ctx, s, req.Msg.GetJob())
	if err != nil {
		return nil, err
	}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_SetAlias{SetAlias: &pb.SetAlias{
		Name: req.Msg.GetName(), JobId: job.ID, Check: req.Msg.GetCheck(), ExpectJob: req.Msg.GetExpectJob(),
	}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.SetAliasResponse{Alias: wireAlias(reply.Alias), PreviousJob: reply.Previous}), nil
}

// RemoveAlias proposes that a name means nothing any more.
func (s *Models) RemoveAlias(
	ctx context.Context, req *connect.Request[pb.RemoveAliasRequest],
) (*connect.Response[pb.RemoveAliasResponse], error) {
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_RemoveAlias{RemoveAlias: &pb.RemoveAlias{
		Name: req.Msg.GetName(), Check: req.Msg.GetCheck(), ExpectJob: req.Msg.GetExpectJob(),
	}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RemoveAliasResponse{Alias: wireAlias(reply.Alias)}), nil
}

// ListAliases reads every alias, in order of name.
func (s *Models) ListAliases(
	ctx context.Context, _ *connect.Request[pb.ListAliasesRequest],
) (*connect.Response[pb.ListAliasesResponse], error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	res := &pb.ListAliasesResponse{}
	view.EachAlias(func(a state.Alias) bool {
		res.Aliases = append(res.Aliases, wireAlias(a))
		return true
	})
	return connect.NewResponse(res), nil
}

// Retire proposes the end of a job's keeping, now. Its objects are swept when the grace has passed.
func (s *Models) Retire(
	ctx context.Context, req *connect.Request[pb.RetireRequest],
) (*connect.Response[pb.RetireResponse], error) {
	job, err := resolve(ctx, s, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	if _, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{
		ByHand: true, Jobs: []*pb.RetireJob{command.Retirement(job)},
	}}}); err != nil {
		return nil, err
	}
	s.Logger.Info("job retired by hand", "job", job.ID)
	return connect.NewResponse(&pb.RetireResponse{Job: s.Describe(job)}), nil
}

// resolve reads the job that a reference names.
func resolve(ctx context.Context, c Cluster, reference string) (*state.Job, error) {
	view, _, err := c.Read(ctx)
	if err != nil {
		return nil, err
	}
	job, refused := view.Resolve(reference)
	if refused != nil {
		return nil, refused
	}
	return job, nil
}

func wireAlias(a state.Alias) *pb.Alias {
	return &pb.Alias{Name: a.Name, JobId: a.JobID, SetUnixMs: a.SetAt}
}
