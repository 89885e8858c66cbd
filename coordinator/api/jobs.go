package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Jobs implements gramv1connect.JobServiceHandler.
type Jobs struct {
	Cluster
	Commands command.Maker
	Store    objstore.Store // holds the jobs' logs
	listings listings
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

// List pages through the jobs, newest first.
func (s *Jobs) List(
	ctx context.Context, req *connect.Request[pb.ListRequest],
) (*connect.Response[pb.ListResponse], error) {
	limit := int(req.Msg.GetLimit())
	if limit == 0 {
		limit = 100
	}
	below, err := parsePageToken(req.Msg.GetPageToken())
	if err != nil {
		return nil, err
	}
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	var jobs []*state.Job
	view.EachJob(func(j *state.Job) bool {
		if below == 0 || j.Number < below {
			jobs = append(jobs, j)
		}
		return true
	})
	// total order: numbers differ
	slices.SortFunc(jobs, func(a, b *state.Job) int { return cmp.Compare(b.Number, a.Number) })
	res := &pb.ListResponse{}
	for _, j := range jobs[:min(len(jobs), limit, 1000)] {
		brief := s.Describe(j)
		brief.SpecJson, brief.Rounds = "", nil
		res.Jobs = append(res.Jobs, brief)
	}
	if n := len(res.Jobs); n > 0 && n < len(jobs) {
		res.NextPageToken = base64.RawURLEncoding.EncodeToString(strconv.AppendUint(nil, jobs[n-1].Number, 10))
	}
	return connect.NewResponse(res), nil
}

// parsePageToken returns the number of the last job of the page before; 0 means the first page.
func parsePageToken(token string) (below uint64, err error) {
	if token == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		below, err = strconv.ParseUint(string(text), 10, 64)
	}
	if err != nil || below == 0 {
		return 0, connect.NewError(connect.CodeInvalidArgument, errors.New("page_token is not one that List returned"))
	}
	return below, nil
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
