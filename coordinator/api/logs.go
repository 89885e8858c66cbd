package api

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	maxLogSegment = 1 << 20
	// lateListings follow the end of a job: workers store their last lines about a second later.
	lateListings = 2
	listingPace  = time.Second
	// listingRest is how many times as long as a listing a follower waits for the next: a long job has many segments.
	listingRest = 20
	maxTail     = 1000 // lines
	// tailBytes is how much of a segment is read for its last lines.
	tailBytes = 128 << 10
)

// Logs sends the stored segments after the cursor, and follows the job when asked to.
func (s *Jobs) Logs(
	ctx context.Context, req *connect.Request[pb.LogsRequest], stream *connect.ServerStream[pb.LogsResponse],
) error {
	sender := &logSender{store: s.Store, stream: stream, from: req.Msg.GetCursor(), cursor: req.Msg.GetCursor(),
		tail: min(int(req.Msg.GetTail()), maxTail), sent: make(map[string]bool)}
	late, age := lateListings, time.Duration(0) // the first list is a new one
	for {
		job, changed, err := readJob(ctx, s, req.Msg.GetId())
		if err != nil {
			return outcome.Wire(err)
		}
		ended := job.Ended()
		segments, took, err := s.segmentLists.get(ctx, s.Store, job.ID, age)
		if err != nil {
			return outcome.Wire(err)
		}
		if err := sender.send(ctx, job.ID, segments); err != nil {
			return outcome.Wire(err)
		}
		if !req.Msg.GetFollow() || ended && late == 0 {
			return nil
		}
		if age = listingPace; ended {
			late, age = late-1, 0
		}
		if err := s.awaitLines(ctx, job, changed, max(listingPace, listingRest*took)); err != nil {
			return outcome.Wire(err)
		}
	}
}

// awaitLines waits until the store may have more of a job's log: for a time, or until the job has ended. Nothing else
// that changes in the cluster tells of lines.
func (s *Jobs) awaitLines(ctx context.Context, job *state.Job, changed <-chan struct{}, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	if job.Ended() {
		changed = nil
	}
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
		if now, ok := view.Job(job.ID); !ok || now.Ended() {
			return nil
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
	tail   int    // the last lines alone, of what is new; 0 means all
	sent   map[string]bool
}

func (l *logSender) send(ctx context.Context, jobID string, segments []objstore.Info) error {
	prefix := protocol.LogPrefix(jobID)
	var waiting []objstore.Info // whose last lines are asked for
	for _, info := range segments {
		name := strings.TrimPrefix(info.Key, prefix)
		if name <= l.from || l.sent[name] {
			continue
		}
		l.sent[name] = true
		if l.cursor = max(l.cursor, name); l.tail > 0 {
			waiting = append(waiting, info)
			continue
		}
		text, _, err := readSegment(ctx, l.store, info, maxLogSegment)
		if err != nil {
			return err
		}
		if err := l.stream.Send(&pb.LogsResponse{Lines: linesOf(text), Cursor: l.cursor}); err != nil {
			return err
		}
	}
	return l.sendTail(ctx, waiting)
}

// sendTail sends the last lines of segments, and reads no more of them than it must.
func (l *logSender) sendTail(ctx context.Context, segments []objstore.Info) error {
	var parts [][]string // the last one first
	found, size, skipped := 0, 0, false
	for len(segments) > 0 && found < l.tail && size < maxLogSegment {
		last := len(segments) - 1
		text, cut, err := readSegment(ctx, l.store, segments[last], tailBytes)
		if err != nil {
			return err
		}
		lines := linesOf(text)
		size += len(text)
		if cut && len(lines) > 1 { // the first may be half a line
			lines = lines[1:]
		}
		parts, found, skipped, segments = append(parts, lines), found+len(lines), skipped || cut, segments[:last]
	}
	if len(parts) == 0 {
		return nil
	}
	slices.Reverse(parts)
	lines := slices.Concat(parts...)
	skipped = skipped || len(segments) > 0 || len(lines) > l.tail
	lines = lines[max(0, len(lines)-l.tail):]
	return l.stream.Send(&pb.LogsResponse{Lines: lines, Cursor: l.cursor, Skipped: skipped})
}

func linesOf(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// readSegment reads the end of a segment, of most bytes, and reports whether there is more before it.
func readSegment(ctx context.Context, store objstore.Store, info objstore.Info, most int64) (text string, cut bool,
	err error) {
	from := max(0, info.Size-most)
	body, _, err := store.Get(ctx, info.Key, objstore.GetOptions{Offset: from})
	if err != nil {
		return "", false, fmt.Errorf("read log segment: %w", err)
	}
	defer body.Close()
	read, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil {
		return "", false, fmt.Errorf("read log segment %s: %w", info.Key, err)
	}
	return strings.ToValidUTF8(string(read), "\ufffd"), from > 0, nil // the answer must be valid, whatever was written
}
