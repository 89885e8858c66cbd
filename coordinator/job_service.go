package coordinator

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

type jobService struct{ c *Coordinator }

// Submit validates the spec, writes its defaults in, and proposes the job.
func (s *jobService) Submit(ctx context.Context, req *connect.Request[pb.SubmitRequest]) (*connect.Response[pb.SubmitResponse], error) {
	cmd, err := s.c.submitCommand(req.Msg)
	if err != nil {
		return nil, err
	}
	cmd.SubmittedBy = gate.CallerOf(ctx).TokenID
	lead, err := s.c.leader()
	if err != nil {
		return nil, err
	}
	if err := s.c.fitsSome(lead, cmd); err != nil {
		return nil, err
	}
	reply, err := s.c.propose(ctx, &pb.Command{Body: &pb.Command_Submit{Submit: cmd}})
	switch {
	case err != nil:
		return nil, err
	case reply.Err != nil:
		return nil, reply.Err
	}
	return connect.NewResponse(&pb.SubmitResponse{Job: s.c.describe(reply.Job), Created: reply.Created}), nil
}

func (c *Coordinator) submitCommand(req *pb.SubmitRequest) (*pb.SubmitJob, error) {
	spec, err := protocol.ParseSpec([]byte(req.GetSpecJson()))
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	view, _ := c.fsm.View()
	return c.commands.Job(view, req.GetId(), spec)
}

// Get reads one job, by id or reference.
func (s *jobService) Get(ctx context.Context, req *connect.Request[pb.GetRequest]) (*connect.Response[pb.GetResponse], error) {
	view, _, err := s.c.read(ctx)
	if err != nil {
		return nil, err
	}
	job, refused := view.Resolve(req.Msg.GetId())
	if refused != nil {
		return nil, refused
	}
	return connect.NewResponse(&pb.GetResponse{Job: s.c.describe(job)}), nil
}

func (c *Coordinator) readJob(ctx context.Context, id string) (*state.Job, <-chan struct{}, error) {
	view, changed, err := c.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	job, ok := view.Job(id)
	if !ok {
		return nil, nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no job %q", id))
	}
	return job, changed, nil
}

// List pages through the jobs, newest first.
func (s *jobService) List(ctx context.Context, req *connect.Request[pb.ListRequest]) (*connect.Response[pb.ListResponse], error) {
	limit := int(req.Msg.GetLimit())
	if limit == 0 {
		limit = 100
	}
	below, err := parsePageToken(req.Msg.GetPageToken())
	if err != nil {
		return nil, err
	}
	view, _, err := s.c.read(ctx)
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
	slices.SortFunc(jobs, func(a, b *state.Job) int { return cmp.Compare(b.Number, a.Number) }) // total order: numbers differ
	res := &pb.ListResponse{}
	for _, j := range jobs[:min(len(jobs), limit, 1000)] {
		brief := s.c.describe(j)
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

// Watch sends the job now, after every change, and at least twice a second while its leases move.
func (s *jobService) Watch(ctx context.Context, req *connect.Request[pb.WatchRequest], stream *connect.ServerStream[pb.WatchResponse]) error {
	var last *pb.Job
	for {
		job, changed, err := s.c.readJob(ctx, req.Msg.GetId())
		if err != nil {
			return outcome.Wire(err)
		}
		if now := s.c.describe(job); !proto.Equal(now, last) {
			if err := stream.Send(&pb.WatchResponse{Job: now}); err != nil {
				return err
			}
			last = now
		}
		if job.Ended() {
			return nil
		}
		if err := s.c.pause(ctx, changed, 500*time.Millisecond); err != nil {
			return outcome.Wire(err)
		}
	}
}

// pause waits for a change, but not longer than limit.
func (c *Coordinator) pause(ctx context.Context, changed <-chan struct{}, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.tasks.Stopping():
		return outcome.ErrShutdown
	}
	return nil
}

// Cancel proposes the end of a job.
func (s *jobService) Cancel(ctx context.Context, req *connect.Request[pb.CancelRequest]) (*connect.Response[pb.CancelResponse], error) {
	if _, err := s.c.leader(); err != nil {
		return nil, err
	}
	reply, err := s.c.propose(ctx, &pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: req.Msg.GetId()}}})
	switch {
	case err != nil:
		return nil, err
	case reply.Err != nil:
		return nil, reply.Err
	}
	return connect.NewResponse(&pb.CancelResponse{Job: s.c.describe(reply.Job)}), nil
}
