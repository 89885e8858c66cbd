package api

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	maxLogSegment = 1 << 20
	// lateListings follow the end of a job: workers store their last lines about a second later.
	lateListings = 2
)

// Logs sends the stored segments after the cursor, and follows the job when asked to.
func (s *Jobs) Logs(
	ctx context.Context, req *connect.Request[pb.LogsRequest], stream *connect.ServerStream[pb.LogsResponse],
) error {
	sender := &logSender{store: s.Store, stream: stream, from: req.Msg.GetCursor(), cursor: req.Msg.GetCursor(),
		sent: make(map[string]bool)}
	late := lateListings
	for {
		job, changed, err := readJob(ctx, s, req.Msg.GetId())
		if err != nil {
			return outcome.Wire(err)
		}
		ended := job.Ended()
		if err := sender.send(ctx, job.ID); err != nil {
			return outcome.Wire(err)
		}
		if !req.Msg.GetFollow() || ended && late == 0 {
			return nil
		}
		if ended { // nothing changes any more: pause for the full time
			late, changed = late-1, nil
		}
		if err := pause(ctx, s.Stopping(), changed, time.Second); err != nil {
			return outcome.Wire(err)
		}
	}
}

// logSender sends each segment once. Segments appear out of order: their names hold
// the clock of their worker, and a slow store shows them late.
type logSender struct {
	store  objstore.Store
	stream *connect.ServerStream[pb.LogsResponse]
	from   string // where the caller's last call ended
	cursor string // the last name sent
	sent   map[string]bool
}

func (l *logSender) send(ctx context.Context, jobID string) error {
	prefix := protocol.LogPrefix(jobID)
	for info, err := range l.store.List(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("list log segments: %w", err)
		}
		name := strings.TrimPrefix(info.Key, prefix)
		if name <= l.from || l.sent[name] {
			continue
		}
		text, err := readSegment(ctx, l.store, info.Key)
		if err != nil {
			return err
		}
		l.sent[name], l.cursor = true, max(l.cursor, name)
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		if err := l.stream.Send(&pb.LogsResponse{Lines: lines, Cursor: l.cursor}); err != nil {
			return err
		}
	}
	return nil
}

func readSegment(ctx context.Context, store objstore.Store, key string) (string, error) {
	body, _, err := store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read log segment: %w", err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxLogSegment))
	if err != nil {
		return "", fmt.Errorf("read log segment %s: %w", key, err)
	}
	return strings.ToValidUTF8(string(text), "\ufffd"), nil // the answer must be valid, whatever was written
}
