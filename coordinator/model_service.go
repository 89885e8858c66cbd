package coordinator

import (
	"context"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

type modelService struct{ c *Coordinator }

// SetAlias proposes what a name means.
func (s *modelService) SetAlias(ctx context.Context, req *connect.Request[pb.SetAliasRequest]) (*connect.Response[pb.SetAliasResponse], error) {
	job, err := s.c.resolve(ctx, req.Msg.GetJob())
	if err != nil {
		return nil, err
	}
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_SetAlias{SetAlias: &pb.SetAlias{
		Name: req.Msg.GetName(), JobId: job.ID, Check: req.Msg.GetCheck(), ExpectJob: req.Msg.GetExpectJob(),
	}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.SetAliasResponse{Alias: wireAlias(reply.Alias), PreviousJob: reply.Previous}), nil
}

// RemoveAlias proposes that a name means nothing any more.
func (s *modelService) RemoveAlias(ctx context.Context, req *connect.Request[pb.RemoveAliasRequest]) (*connect.Response[pb.RemoveAliasResponse], error) {
	reply, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_RemoveAlias{RemoveAlias: &pb.RemoveAlias{
		Name: req.Msg.GetName(), Check: req.Msg.GetCheck(), ExpectJob: req.Msg.GetExpectJob(),
	}}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RemoveAliasResponse{Alias: wireAlias(reply.Alias)}), nil
}

// ListAliases reads every alias, in order of name.
func (s *modelService) ListAliases(ctx context.Context, _ *connect.Request[pb.ListAliasesRequest]) (*connect.Response[pb.ListAliasesResponse], error) {
	view, _, err := s.c.read(ctx)
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
func (s *modelService) Retire(ctx context.Context, req *connect.Request[pb.RetireRequest]) (*connect.Response[pb.RetireResponse], error) {
	job, err := s.c.resolve(ctx, req.Msg.GetId())
	if err != nil {
		return nil, err
	}
	if _, err := s.c.agree(ctx, &pb.Command{Body: &pb.Command_RetireJobs{RetireJobs: &pb.RetireJobs{
		ByHand: true, Jobs: []*pb.RetireJob{retirement(job)},
	}}}); err != nil {
		return nil, err
	}
	s.c.cfg.Logger.Info("job retired by hand", "job", job.ID)
	return connect.NewResponse(&pb.RetireResponse{Job: s.c.describe(job)}), nil
}

// resolve reads the job that a reference names.
func (c *Coordinator) resolve(ctx context.Context, reference string) (*state.Job, error) {
	view, _, err := c.read(ctx)
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
