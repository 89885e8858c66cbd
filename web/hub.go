package web

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// hub holds the jobs that somebody watches on this member. What a page shows of a job is asked for and rendered once
// for all who watch it; what it costs does not grow with them, but for sending the same bytes.
type hub struct {
	mu   sync.Mutex
	jobs map[string]*live
}

// join takes part in watching a job.
func (h *hub) join(id string) *live {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.jobs[id]
	if l == nil || l.isOver() { // what has ended is asked for anew
		if h.jobs == nil {
			h.jobs = make(map[string]*live)
		}
		l = &live{id: id, changed: make(chan struct{}), shown: newShown()}
		h.jobs[id] = l
	}
	l.watchers++
	return l
}

// leave forgets a job when the last of those who watch it leaves.
func (h *hub) leave(l *live) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.watchers--; l.watchers == 0 && h.jobs[l.id] == l {
		delete(h.jobs, l.id)
	}
}

// live is a job that is watched. One of those who watch asks the services at a time, in the name of its own token; when
// it goes another takes its turn.
type live struct {
	id       string
	watchers int // guarded by the hub

	mu      sync.Mutex
	asked   bool // it is somebody's turn
	pieces  []sent
	version uint64
	over    []byte        // the last event; nil while there is more to come
	changed chan struct{} // closed when something has changed, then replaced

	shown *shown // is of the one that has the turn
}

// sent is a piece of the page, as an event.
type sent struct {
	name    string
	version uint64
	event   []byte
}

func (l *live) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over != nil
}

// takeTurn reports whether the caller is to ask from now on.
func (l *live) takeTurn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked || l.over != nil {
		return false
	}
	l.asked = true
	return true
}

// giveTurn lets another ask.
func (l *live) giveTurn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = false
	l.tell()
}

// tell wakes all who wait. The caller holds mu.
func (l *live) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// publish replaces the pieces that are others than before.
func (l *live) publish(pieces map[string][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	news := false
	for _, name := range pieceNames {
		event, made := pieces[name]
		at := slices.IndexFunc(l.pieces, func(p sent) bool { return p.name == name })
		switch {
		case !made || at >= 0 && bytes.Equal(l.pieces[at].event, event):
			continue
		case at < 0:
			at, l.pieces = len(l.pieces), append(l.pieces, sent{name: name})
		}
		if !news {
			news = true
			l.version++
		}
		l.pieces[at].version, l.pieces[at].event = l.version, event
	}
	if news {
		l.tell()
	}
}

// finish sends the last event.
func (l *live) finish(event []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = event
	l.tell()
}

// since returns the events after a version, the version they lead to, whether there are no more, and a channel that is
// closed when there is more to know. Who reads slowly is sent the newest of each piece alone.
func (l *live) since(seen uint64) (events net.Buffers, now uint64, over bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pieces {
		if p.version > seen {
			events = append(events, p.event)
		}
	}
	if l.over != nil {
		events = append(events, l.over)
	}
	return events, l.version, l.over != nil, l.changed
}

// recheckPace is how often a watcher's right is examined by a call of its own, beside the gate, which ends its stream
// as soon as this member knows that its token is revoked.
const recheckPace = 30 * time.Second

// jobLive sends the moving pieces of a job's page, again when they change, until the job has ended.
func (s jobWatch) jobLive(w http.ResponseWriter, r *http.Request) {
	job, err := s.peek(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l := s.hub.join(job.GetId())
	defer s.hub.leave(l)
	begin(w)
	s.follow(w, r, l)
}

// peek makes the call that the one who looks would make alone, and returns its first answer: it may look.
func (s jobWatch) peek(r *http.Request) (*pb.Job, error) {
	stream, err := s.jobs.Watch(s.as(r), call(r, &pb.WatchRequest{Id: r.PathValue("id")}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if !stream.Receive() {
		return nil, stream.Err()
	}
	return stream.Msg().GetJob(), nil
}

// follow sends what is known of a watched job, and asks for it while that is its turn.
func (s jobWatch) follow(w http.ResponseWriter, r *http.Request, l *live) {
	ctx, end := context.WithCancelCause(r.Context())
	var asking sync.WaitGroup
	defer asking.Wait()
	defer end(nil)
	recheck := time.NewTicker(recheckPace)
	defer recheck.Stop()
	control := http.NewResponseController(w)
	for seen := uint64(0); ctx.Err() == nil; {
		if l.takeTurn() {
			asking.Go(func() {
				defer l.giveTurn()
				if err := s.ask(ctx, r, l); err != nil {
					end(err)
				}
			})
		}
		events, now, over, changed := l.since(seen)
		if len(events) > 0 {
			if _, err := events.WriteTo(w); err != nil || control.Flush() != nil || over {
				return
			}
		}
		seen = now
		select {
		case <-changed:
		case <-ctx.Done():
		case <-recheck.C:
			if _, err := s.peek(r); ownFault(err) {
				return
			}
		}
	}
}

// ownFault reports whether a call was refused for the token of the one who looks.
func ownFault(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeResourceExhausted:
		return err != nil
	}
	return false
}
