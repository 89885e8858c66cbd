package api

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// watchPace is the time between two looks at a job that gets on. A job of a million leaves changes hundreds of times a
// second.
const watchPace = 500 * time.Millisecond

// Watch sends the job now, at once when its state is another, and at most twice a second while it gets on.
func (s *Jobs) Watch(
	ctx context.Context, req *connect.Request[pb.WatchRequest], stream *connect.ServerStream[pb.WatchResponse],
) error {
	var last *pb.Job
	for {
		looked := time.Now()
		job, changed, err := readJob(ctx, s, req.Msg.GetId())
		if err != nil {
			return outcome.Wire(err)
		}
		now := s.Describe(job)
		if now.Eta = s.RecentETA(job); last != nil && !job.Ended() {
			now.SpecJson = "" // it may be long and never changes: the first and the last message have it
		}
		if !proto.Equal(now, last) {
			if err := stream.Send(&pb.WatchResponse{Job: now}); err != nil {
				return err
			}
			last = now
			last.SpecJson = ""
		}
		if job.Ended() {
			return nil
		}
		if err := s.awaitNews(ctx, job, changed, looked); err != nil {
			return outcome.Wire(err)
		}
	}
}

// awaitNews waits until it is time to look at a job again: its state is another, or the pace allows it. What is
// remembered of leases changes without the state, so that there is a last moment as well.
func (s *Jobs) awaitNews(ctx context.Context, job *state.Job, changed <-chan struct{}, looked time.Time) error {
	timer := time.NewTimer(watchPace)
	defer timer.Stop()
	for {
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.Stopping():
			return outcome.ErrShutdown
		}
		var view state.State
		view, changed = s.View()
		now, ok := view.Job(job.ID)
		if !ok || now.Stage != job.Stage || now != job && time.Since(looked) >= watchPace {
			return nil
		}
	}
}
