package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
)

// stream sends the pieces of a view to one who looks, until they go.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, key string, from source) {
	one, watcher, err := s.feeds.join(r, key, from)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer s.feeds.leave(key, one, watcher)
	control := beginEvents(w)
	for {
		select {
		case e := <-watcher.news:
			if _, err := w.Write([]byte(e.text)); err != nil || control.Flush() != nil || e.last {
				return // who looked has gone, or there is no more
			}
		case <-r.Context().Done():
			return
		case <-s.stopping:
			_, _ = w.Write([]byte(problem(errStopping).text)) // who looked may have gone
			return
		}
	}
}

var errStopping = errors.New("this coordinator is being shut down")

// mostFailures is how many questions in a row may fail before a feed ends: an election takes one or two.
const mostFailures = 5

// betweenFeeds is how long a member waits, on average, between two questions for feeds: with many of them each is asked
// for less often, so that what watchers cost the leader has a bound.
const betweenFeeds = 200 * time.Millisecond

// poll is a source that asks again and again, and publishes what look returns.
func (f *feeds) poll(every time.Duration,
	look func(ctx context.Context, r *http.Request) (piece string, err error)) source {
	return func(ctx context.Context, r *http.Request, publish func(feedEvent)) error {
		timer := time.NewTimer(0)
		defer timer.Stop()
		failures := 0
		for {
			piece, err := look(ctx, r)
			switch {
			case err == nil:
				failures = 0
				publish(feedEvent{text: "event: piece\ndata: " + piece + "\n\n"})
			case ctx.Err() != nil, isRefused(err), connect.CodeOf(err) == connect.CodeInvalidArgument,
				connect.CodeOf(err) == connect.CodeResourceExhausted, failures == mostFailures:
				return err
			default:
				failures++
			}
			timer.Reset(max(every, time.Duration(f.count())*betweenFeeds))
			select {
			case <-timer.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func (f *feeds) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.of)
}

// problem is the last event of a stream that cannot go on.
func problem(err error) feedEvent {
	return feedEvent{text: "event: problem\ndata: " + oneLine(protocol.VisibleLines(message(err))) + "\n\n", last: true}
}

// wholePiece renders a piece of a page as an event carries it.
func (s *Site) wholePiece(name string, view any) (string, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, view); err != nil {
		s.logger.Error("render a piece of a page", "piece", name, "error", err)
		return "", err
	}
	return oneLine(protocol.VisibleLines(out.String())), nil
}

// beginEvents begins a stream of events.
func beginEvents(w http.ResponseWriter) *http.ResponseController {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	return http.NewResponseController(w)
}
