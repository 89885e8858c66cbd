package web

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// aRound has a job whose round is open, and tells of its leaves to a token that has calls left.
type aRound struct {
	gramv1connect.UnimplementedJobServiceHandler
}

func (aRound) Watch(ctx context.Context, _ *connect.Request[pb.WatchRequest],
	stream *connect.ServerStream[pb.WatchResponse]) error {
	if err := stream.Send(&pb.WatchResponse{Job: &pb.Job{Id: "a", State: pb.JobState_JOB_STATE_RUNNING,
		Progress: &pb.Progress{Leaves: 4}}}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (aRound) Leaves(_ context.Context, r *connect.Request[pb.LeavesRequest]) (
	*connect.Response[pb.LeavesResponse], error) {
	if r.Header().Get("Authorization") == "spent" {
		return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many calls"))
	}
	none := make([]uint32, 4)
	return connect.NewResponse(&pb.LeavesResponse{Leaves: 4, CommittedByRange: none, RunningByRange: none,
		FailedByRange: none}), nil
}

// Who watched first and has no more calls hands the questions on: what all see does not stand still.
func TestASpentTokenHandsItsTurnOn(t *testing.T) {
	calls := http.NewServeMux()
	calls.Handle(gramv1connect.NewJobServiceHandler(aRound{}))
	server := httptest.NewServer(New(calls, make(chan struct{}), slog.New(slog.DiscardHandler)))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	watch := func(name string) *bufio.Scanner {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/jobs/a/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", name)
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return bufio.NewScanner(res.Body)
	}
	watch("spent")
	for lines := watch("other"); lines.Scan(); {
		if strings.Contains(lines.Text(), "Leaves of round") {
			return
		}
	}
	t.Error("nobody tells the other of leaves")
}
