package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
)

// audience are watchers of one feed, and what they were sent.
type audience struct {
	*testing.T
	site    *Site
	key     string
	looking sync.WaitGroup
}

func newAudience(t *testing.T) *audience {
	return &audience{T: t,
		site: &Site{logger: slog.New(slog.DiscardHandler), stopping: make(chan struct{})}}
}

// watch lets one look, in a name, until the returned function is called; that returns what was sent.
func (a *audience) watch(name string, from source) (leave func() string) {
	ctx, cancel := context.WithCancel(a.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live", nil)
	r.Header.Set("Authorization", name)
	w, done, key := httptest.NewRecorder(), make(chan struct{}), a.key
	a.looking.Go(func() {
		defer close(done)
		a.site.stream(w, r, key, from)
	})
	synctest.Wait()
	return func() string {
		cancel()
		<-done
		return w.Body.String()
	}
}

// saying always finds the same.
func saying(piece string) func(context.Context, *http.Request) (string, error) {
	return func(context.Context, *http.Request) (string, error) { return piece, nil }
}

// Two who look at the same are asked for once, in the name of the first; the second goes on when the first has gone,
// and the last ends it.
func TestFeedIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		var names []string
		from := a.site.feeds.poll(time.Second, func(_ context.Context, r *http.Request) (string, error) {
			names = append(names, r.Header.Get("Authorization"))
			return time.Now().Format("05"), nil // another piece each time
		})
		first := a.watch("first", from)
		second := a.watch("second", from)
		<-time.After(1500 * time.Millisecond)
		if got := first(); strings.Count(got, "event: piece") != 2 {
			t.Errorf("the first was sent %q", got)
		}
		<-time.After(1500 * time.Millisecond)
		if got := second(); strings.Count(got, "event: piece") < 3 || !strings.HasSuffix(got, "\n\n") {
			t.Errorf("the second was sent %q", got)
		}
		asked := len(names)
		<-time.After(time.Minute)
		if got := strings.Join(names, " "); len(names) != asked || !strings.HasPrefix(got, "first first second") ||
			strings.Contains(got, "second first") {
			t.Errorf("asked in the names of %s", got)
		}
		if len(a.site.feeds.of) != 0 {
			t.Error("a feed that nobody looks at is kept")
		}
	})
}

// What does not change is sent once to each who comes.
func TestFeedIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		from := a.site.feeds.poll(time.Second, saying("same"))
		first := a.watch("first", from)
		<-time.After(10 * time.Second)
		second := a.watch("second", from)
		for _, leave := range []func() string{first, second} {
			if got := leave(); got != "event: piece\ndata: same\n\n" {
				t.Errorf("%q", got)
			}
		}
	})
}

// One whose token is refused is not asked in the name of again; the other goes on.
func TestFeedOfARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		from := a.site.feeds.poll(time.Second, func(_ context.Context, r *http.Request) (string, error) {
			if r.Header.Get("Authorization") == "revoked" {
				return "", connect.NewError(connect.CodeUnauthenticated, errors.New("no token"))
			}
			return "seen", nil
		})
		revoked := a.watch("revoked", from)
		good := a.watch("good", from)
		<-time.After(time.Second)
		if got := good(); !strings.Contains(got, "seen") {
			t.Errorf("the other was sent %q", got)
		}
		revoked() // the gate ends it
	})
}

// A cluster that does not answer for a while is asked again; one that does not answer at all ends the streams.
func TestFeedOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			fails int
			want  string
		}{{mostFailures, "event: piece\ndata: back\n\n"},
			{mostFailures + 1, "event: problem\ndata: no\\x1bleader\n\n"}} {
			a, asked := newAudience(t), 0
			from := a.site.feeds.poll(time.Second, func(context.Context, *http.Request) (string, error) {
				if asked++; asked <= c.fails {
					return "", connect.NewError(connect.CodeUnavailable, errors.New("no\x1bleader"))
				}
				return "back", nil
			})
			leave := a.watch("one", from)
			<-time.After(10 * time.Second)
			if got := leave(); got != c.want {
				t.Errorf("%d failures: %q", c.fails, got)
			}
		}
	})
}

// Streams end when the coordinator does.
func TestFeedEndsWithTheCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		stop := make(chan struct{})
		a.site.stopping = stop
		a.watch("one", a.site.feeds.poll(time.Second, saying("x")))
		close(stop)
		a.looking.Wait()
	})
}

// With many feeds each is asked for less often.
func TestManyFeedsAreSlower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, asked, leaves := newAudience(t), atomic.Int64{}, []func() string(nil)
		from := a.site.feeds.poll(time.Second, func(context.Context, *http.Request) (string, error) {
			asked.Add(1)
			return "x", nil
		})
		for n := range 50 {
			a.key = fmt.Sprint(n)
			leaves = append(leaves, a.watch("one", from))
		}
		<-time.After(time.Minute) // each falls into its pace
		asked.Store(0)
		<-time.After(time.Minute)
		if n := asked.Load(); n < 280 || n > 320 {
			t.Errorf("asked %d times in a minute, want 300", n)
		}
		for _, leave := range leaves {
			leave()
		}
	})
}

// One whose token has no more calls does not take the picture from others who look at the same.
func TestFeedOfASpentToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		from := a.site.feeds.poll(2*time.Second, func(_ context.Context, r *http.Request) (string, error) {
			if r.Header.Get("Authorization") == "spent" {
				return "", connect.NewError(connect.CodeResourceExhausted, errors.New("too many calls"))
			}
			return time.Now().Format("04:05"), nil
		})
		spent := a.watch("spent", from)
		other := a.watch("other", from)
		<-time.After(time.Minute)
		if got := other(); strings.Count(got, "event: piece") < 20 || strings.Contains(got, "event: problem") {
			t.Errorf("another was sent %q", got)
		}
		spent()
		if len(a.site.feeds.of) != 0 {
			t.Error("a feed that nobody looks at is kept")
		}
	})
}

// A token does not open any number of views, each of which is asked for; it may still join those of others.
func TestFeedsOfATokenAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAudience(t)
		from := a.site.feeds.poll(time.Minute, saying("x"))
		var leave []func() string
		for i := range mostFeeds + 1 {
			a.key = fmt.Sprint(i)
			leave = append(leave, a.watch("one", from))
		}
		if n := len(a.site.feeds.of); n != mostFeeds {
			t.Errorf("%d feeds of one token", n)
		}
		other := a.watch("other", from)
		leave = append(leave, a.watch("one", from))
		for i, end := range append(leave, other) {
			if got := end(); strings.Contains(got, "event: piece") == (i == mostFeeds) {
				t.Errorf("%d was sent %q", i, got)
			}
		}
	})
}
