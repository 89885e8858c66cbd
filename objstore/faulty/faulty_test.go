package faulty_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/objstore/objstoretest"
)

func TestConformanceWithoutRules(t *testing.T) {
	objstoretest.Run(t, func(*testing.T) objstore.Store { return faulty.Wrap(mem.New("t")) })
}

var errTest = errors.New("test")

func wrap(t *testing.T, rules ...faulty.Rule) *faulty.Store {
	t.Helper()
	inner := mem.New("t")
	for _, key := range []string{"a/1", "a/2", "b"} {
		if _, err := inner.Put(t.Context(), key, []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
	}
	return faulty.Wrap(inner, rules...)
}

// outcomes runs n Stats of key and says which failed.
func outcomes(t *testing.T, s *faulty.Store, key string, n int) string {
	var out []byte
	for range n {
		_, err := s.Stat(t.Context(), key)
		switch {
		case err == nil:
			out = append(out, '.')
		case errors.Is(err, errTest):
			out = append(out, 'x')
		default:
			t.Fatal(err)
		}
	}
	return string(out)
}

func TestFirstAndTimes(t *testing.T) {
	for _, c := range []struct {
		first, times int
		want         string
	}{{0, 0, "xxxxx"}, {1, 1, "x...."}, {3, 0, "..xxx"}, {3, 2, "..xx."}, {0, 2, "xx..."}, {9, 0, "....."}} {
		s := wrap(t, faulty.Rule{First: c.first, Times: c.times, Err: errTest})
		if got := outcomes(t, s, "b", 5); got != c.want {
			t.Errorf("first %d, times %d: %s, want %s", c.first, c.times, got, c.want)
		}
	}
}

func TestOpAndKeyPatterns(t *testing.T) {
	s := wrap(t,
		faulty.Rule{Op: faulty.Stat, Key: "a/", Err: errTest},
		faulty.Rule{Op: faulty.Get, Err: errTest},
		faulty.Rule{Op: faulty.Stat, Key: "[bc]", First: 2, Err: errTest})
	for key, want := range map[string]string{"a/1": "xx", "a/2": "xx", "b": ".x"} {
		if got := outcomes(t, s, key, 2); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if got := s.Fired(); !slices.Equal(got, []int{4, 0, 1}) {
		t.Errorf("fired %v", got)
	}
}

func TestLostReplyHappened(t *testing.T) {
	s := wrap(t,
		faulty.Rule{Op: faulty.Put, Key: "new", Times: 1, LostReply: true},
		faulty.Rule{Op: faulty.Delete, Times: 1, LostReply: true, Err: errTest})
	if _, err := s.Put(t.Context(), "new", []byte("x")); !errors.Is(err, objstore.ErrUnavailable) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Stat(t.Context(), "new"); err != nil {
		t.Errorf("the put whose reply was lost did not happen: %v", err)
	}
	if err := s.Delete(t.Context(), "b"); !errors.Is(err, errTest) {
		t.Errorf("delete: %v", err)
	}
	if _, err := s.Stat(t.Context(), "b"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("the delete whose reply was lost did not happen: %v", err)
	}
}

func TestFailedPutDidNotHappen(t *testing.T) {
	s := wrap(t, faulty.Rule{Op: faulty.Put, Err: errTest})
	if _, err := s.Put(t.Context(), "new", nil); !errors.Is(err, errTest) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Stat(t.Context(), "new"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("stat: %v", err)
	}
}

func TestCutAndFlip(t *testing.T) {
	s := wrap(t,
		faulty.Rule{Op: faulty.Get, Key: "a/1", Cut: 4},
		faulty.Rule{Op: faulty.Get, Key: "a/2", Flip: 10},
		faulty.Rule{Op: faulty.Get, Key: "b", Times: 1, Cut: 1})
	read := func(key string) (string, error) {
		r, _, err := s.Get(t.Context(), key, objstore.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		return string(data), err
	}
	if got, err := read("a/1"); got != "012" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut before byte 4: %q, %v", got, err)
	}
	if got, err := read("a/2"); got != "0123456788" || err != nil {
		t.Errorf("byte 10 flipped: %q, %v", got, err)
	}
	if got, err := read("b"); got != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut before byte 1: %q, %v", got, err)
	}
	if got, err := read("b"); got != "0123456789" || err != nil {
		t.Errorf("the second time: %q, %v", got, err)
	}
}

func TestListCut(t *testing.T) {
	s := wrap(t, faulty.Rule{Op: faulty.List, Cut: 3, Times: 1, Err: errTest})
	for _, want := range []struct {
		keys []string
		err  error
	}{{[]string{"a/1", "a/2"}, errTest}, {[]string{"a/1", "a/2", "b"}, nil}} {
		var keys []string
		var last error
		for info, err := range s.List(t.Context(), "") {
			if last = err; err == nil {
				keys = append(keys, info.Key)
			}
		}
		if !slices.Equal(keys, want.keys) || !errors.Is(last, want.err) {
			t.Errorf("%v, %v; want %v, %v", keys, last, want.keys, want.err)
		}
	}
}

// TestBefore: a call waits for the test's word, or for its own context.
func TestBefore(t *testing.T) {
	arrived, release := make(chan string), make(chan struct{})
	s := wrap(t, faulty.Rule{Before: func(ctx context.Context, op faulty.Op, key string) error {
		arrived <- string(op) + " " + key
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	stat := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := s.Stat(ctx, "b")
			done <- err
		}()
		if got := <-arrived; got != "stat b" {
			t.Errorf("arrived: %s", got)
		}
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := stat(ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	done = stat(t.Context())
	close(release)
	if err := <-done; err != nil {
		t.Errorf("released: %v", err)
	}
}
