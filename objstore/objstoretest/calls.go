package objstoretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/objstore"
)

// testConcurrentPuts: 32 writers of one key, each of different bytes, and readers
// meanwhile: a reader sees the whole of one of them.
func testConcurrentPuts(t *testing.T, s suite) {
	const writers = 32
	value := func(i int) []byte { return []byte(strings.Repeat(fmt.Sprintf("%02d", i), 5000)) }
	put(t, s, "shared/k", value(0))
	var g errgroup.Group
	for i := range writers {
		g.Go(func() error {
			if _, err := s.Put(t.Context(), fmt.Sprintf("own/%d", i), value(i)); err != nil {
				return err
			}
			if _, err := s.Put(t.Context(), "shared/k", value(i)); err != nil {
				return err
			}
			got, _, err := get(t.Context(), s, "shared/k", objstore.GetOptions{})
			if err != nil {
				return err
			}
			return oneValue(got)
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for i := range writers {
		got, _ := mustGet(t, s, fmt.Sprintf("own/%d", i), objstore.GetOptions{})
		wantBytes(t, fmt.Sprintf("own/%d", i), got, value(i))
	}
}

func oneValue(got []byte) error {
	if len(got) != 10000 || strings.Count(string(got), string(got[:2])) < 5000 {
		return fmt.Errorf("read %d bytes that no writer wrote", len(got))
	}
	return nil
}

func testCancelled(t *testing.T, s suite) {
	put(t, s, "k", pattern(8<<20, 9))
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := s.Get(ctx, "k", objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = io.Copy(io.Discard, r)
	wantErr(t, "reading on", err, context.Canceled)
	_, err = s.Put(ctx, "k2", []byte("x"))
	wantErr(t, "put", err, context.Canceled)
	_, _, err = s.Get(ctx, "k", objstore.GetOptions{})
	wantErr(t, "get", err, context.Canceled)
	_, err = s.Stat(ctx, "k")
	wantErr(t, "stat", err, context.Canceled)
	wantErr(t, "delete", s.Delete(ctx, "k"), context.Canceled)
	err = nil
	for _, err = range s.List(ctx, "") {
	}
	wantErr(t, "list", err, context.Canceled)
	if got := fmt.Sprint(keys(list(t, s, ""))); got != "[k]" {
		t.Errorf("cancelled calls changed the store: %s", got)
	}
	put(t, s, "l", nil)
	CancelMidList(t, s)
}

// CancelMidList cancels a listing of two or more objects after the first: it must
// not look like a complete one.
func CancelMidList(t *testing.T, s objstore.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range s.List(ctx, "") {
		cancel()
		last = err
	}
	wantErr(t, "a listing cancelled after its first object", last, context.Canceled)
}

// testErrors: an error names the operation, the store and the object.
func testErrors(t *testing.T, s suite) {
	_, statErr := s.Stat(t.Context(), "no/such")
	_, _, getErr := s.Get(t.Context(), "no/such", objstore.GetOptions{})
	_, putErr := s.Put(t.Context(), "a//b", nil)
	for _, c := range []struct {
		op, key string
		err     error
	}{{"stat", "no/such", statErr}, {"get", "no/such", getErr}, {"put", "a//b", putErr},
		{"delete", "a//b", s.Delete(t.Context(), "a//b")}} {
		e, ok := errors.AsType[*objstore.Error](c.err)
		if !ok || e.Op != c.op || e.Key != c.key || e.Store != s.String() {
			t.Errorf("%s %s: %#v does not say so", c.op, c.key, c.err)
		}
	}
}
