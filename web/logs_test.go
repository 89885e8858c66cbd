package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

func TestLineText(t *testing.T) {
	for line, want := range map[string]string{
		`{"time":"2026-11-21T09:00:01.234567Z","level":"info","event":"computed","worker":"w1","task":"node",` +
			`"round":2,"node_level":1,"node_index":5,"seconds":0.25}`: "2026-11-21 09:00:01.234 info  w1 round 2, tree 0, node 1/5: " +
			"computed 0.25 s",
		`{"time":"2026-11-21T09:00:01Z","level":"error","event":"failed","worker":"w1","task":"step","round":1,` +
			`"code":"STORE","message":"the store\nis away"}`: "2026-11-21 09:00:01Z error w1 round 1, step: " +
			"failed STORE the store\\nis away",
		`{"time":"2026-11-21T09:00:01Z","level":"warn","event":"lost","worker":"w1","task":"plan","lines":3}`: "2026-11-21 " +
			"09:00:01Z warn  w1 plan: lost 3 lines",
		`no JSON`:     `no JSON`,
		`{"time":1}`:  `{"time":1}`,
		`{"event":1}`: `{"event":1}`,
	} {
		if got := lineText(line); got != want {
			t.Errorf("%s\n is %q, want\n    %q", line, got, want)
		}
	}
}

// The page of a job has the last lines, and of long ones their beginnings: a worker's may have a MiB each.
func TestLongLinesAreCut(t *testing.T) {
	k := newShown()
	for i := range linesOfPage + 1 {
		k.addLines(&pb.LogsResponse{Lines: []string{fmt.Sprint(i, strings.Repeat("ü", bytesOfLine))}})
	}
	size := len(strings.Join(k.Lines, ""))
	if last := k.Lines[linesOfPage-1]; size > linesOfPage*(bytesOfLine+3) || !strings.HasPrefix(last, "100ü") ||
		!strings.HasSuffix(last, "ü…") {
		t.Errorf("%d lines of %d bytes", len(k.Lines), size)
	}
}

// halfALog has a job whose log never ends.
type halfALog struct {
	gramv1connect.UnimplementedJobServiceHandler
	sent func()
}

func (halfALog) Get(context.Context, *connect.Request[pb.GetRequest]) (*connect.Response[pb.GetResponse], error) {
	return connect.NewResponse(&pb.GetResponse{Job: &pb.Job{Id: "a"}}), nil
}

func (h halfALog) Logs(ctx context.Context, _ *connect.Request[pb.LogsRequest],
	stream *connect.ServerStream[pb.LogsResponse]) error {
	if err := stream.Send(&pb.LogsResponse{Lines: []string{"one"}}); err != nil {
		return err
	}
	h.sent()
	<-ctx.Done()
	return context.Cause(ctx)
}

// The gate ends a page when its token is revoked: a log that is cut then does not look whole.
func TestALogThatIsCutSaysSo(t *testing.T) {
	ctx, revoke := context.WithCancel(t.Context())
	calls := http.NewServeMux()
	calls.Handle(gramv1connect.NewJobServiceHandler(halfALog{sent: revoke}))
	site := New(calls, make(chan struct{}), slog.New(slog.DiscardHandler))
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/jobs/a/logs", nil))
	if text := w.Body.String(); !strings.Contains(text, "The rest could not be read") {
		t.Errorf("%d %s", w.Code, text)
	}
}
