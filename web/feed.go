package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// feeds are the moving pieces that several watchers look at: each is asked for and rendered once for all of them.
type feeds struct {
	mu sync.Mutex
	of map[string]*feed // by what they show
}

// feed is one of them. It asks in the name of the one who has watched longest, and ends with the last.
type feed struct {
	source   source
	watchers []*watcher // in order of arrival; feeds.mu guards them, and last
	last     feedEvent  // what a watcher who comes is shown at once
	end      context.CancelFunc
	ended    chan struct{}
}

// source publishes the pieces of a view, asking in the name of a watcher, until the context ends or it fails.
type source func(ctx context.Context, r *http.Request, publish func(feedEvent)) error

// feedEvent is one of a stream, as it is sent.
type feedEvent struct {
	text string
	last bool // the stream ends with it
}

// watcher is one who looks.
type watcher struct {
	request *http.Request
	news    chan feedEvent // holds the newest event that was not sent yet
}

// mostFeeds is how many feeds may be asked for in the name of one token: each costs what its view does, and there are
// as many views as texts to search for.
const mostFeeds = 100

var errFeeds = connect.NewError(connect.CodeResourceExhausted,
	errors.New("too many different pages are open with this token; close some"))

// asked counts the feeds that are asked for in the name of a token. It is called under mu.
func (f *feeds) asked(authorization string) (count int) {
	for _, one := range f.of { // in any order
		if len(one.watchers) > 0 && one.watchers[0].request.Header.Get("Authorization") == authorization {
			count++
		}
	}
	return count
}

// join adds a watcher to the feed of a key, which begins with the first.
func (f *feeds) join(r *http.Request, key string, from source) (*feed, *watcher, error) {
	w := &watcher{request: r, news: make(chan feedEvent, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]*feed{}
	}
	one := f.of[key]
	if one == nil {
		if f.asked(r.Header.Get("Authorization")) >= mostFeeds {
			return nil, nil, errFeeds
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
		one = &feed{source: from, end: cancel, ended: make(chan struct{})}
		f.of[key] = one
		go f.run(ctx, key, one)
	}
	one.watchers = append(one.watchers, w)
	if one.last.text != "" {
		w.news <- one.last
	}
	return one, w, nil
}

// leave takes a watcher out. The last to leave ends the feed, and waits for that.
func (f *feeds) leave(key string, one *feed, w *watcher) {
	f.mu.Lock()
	one.watchers = slices.DeleteFunc(one.watchers, func(other *watcher) bool { return other == w })
	last := len(one.watchers) == 0
	if last && f.of[key] == one {
		delete(f.of, key)
	}
	f.mu.Unlock()
	if last {
		one.end()
		<-one.ended
	}
}

// run asks for pieces in the name of one watcher, then of the next when that one has gone or may not look any more.
func (f *feeds) run(ctx context.Context, key string, one *feed) {
	defer close(one.ended)
	defer one.end()
	refused := map[*watcher]bool{}
	for {
		f.mu.Lock()
		at := slices.IndexFunc(one.watchers, func(w *watcher) bool { return !refused[w] })
		if at < 0 {
			f.drop(key, one)
			f.mu.Unlock()
			return // all have gone, or are about to: the gate ends their streams
		}
		first := one.watchers[at]
		f.mu.Unlock()
		asking, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(first.request.Context(), cancel)
		err := one.source(asking, first.request, func(e feedEvent) { f.publish(one, e) })
		stop()
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case first.request.Context().Err() != nil, isRefused(err):
			refused[first] = true
		case connect.CodeOf(err) == connect.CodeResourceExhausted:
			f.putBehind(ctx, one, first)
		default:
			f.mu.Lock()
			f.drop(key, one) // who comes now begins anew
			f.mu.Unlock()
			f.publish(one, problem(err))
			return
		}
	}
}

// spentPause is how long a feed waits after a token had no more calls.
const spentPause = time.Second

// putBehind lets the others ask before one whose token has spent its rate: that is no fault of what all look at.
func (f *feeds) putBehind(ctx context.Context, one *feed, w *watcher) {
	f.mu.Lock()
	if at := slices.Index(one.watchers, w); at >= 0 {
		one.watchers = append(slices.Delete(one.watchers, at, at+1), w)
	}
	f.mu.Unlock()
	select {
	case <-time.After(spentPause):
	case <-ctx.Done():
	}
}

// drop lets the next watcher begin another feed. It is called under mu.
func (f *feeds) drop(key string, one *feed) {
	if f.of[key] == one {
		delete(f.of, key)
	}
}

// publish hands an event to all watchers, if it is another than before; one that has not sent the last yet sends this
// one alone.
func (f *feeds) publish(one *feed, e feedEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e == one.last {
		return
	}
	one.last = e
	for _, w := range one.watchers {
		select {
		case <-w.news:
		default:
		}
		w.news <- e
	}
}

// isRefused reports whether a call failed because of who made it.
func isRefused(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied:
		return err != nil
	}
	return false
}
