package dataset

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

func TestGlobMatch(t *testing.T) {
	for _, c := range []struct {
		glob, key string
		want      bool
	}{
		{"*", "a", true}, {"a*", "a", true}, {"a*a", "a", false}, {"ab*ba", "aba", false}, {"ab*ba", "abba", true},
		{"a*b*c", "abc", true}, {"a*b*c", "acb", false}, {"a**c", "ac", true}, {"a*b*b", "ab", false},
		{"a?c", "abc", false}, {"[a]*", "[a]", true},
	} {
		if got := globMatch(c.glob, c.key); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.glob, c.key, got, c.want)
		}
	}
}

func TestListByHand(t *testing.T) {
	store := storeOf(t, map[string]string{
		"in/a.tsv": "1", "in/b.tsv.gz": "22", "in/B.tsv": "333", "in/sub/c.tsv": "4444", "in2/d.tsv": "5",
		"in/e*.tsv": "6", "top": "7", "void": "",
	})
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"in/", []string{"B.tsv", "a.tsv", "b.tsv.gz", "e*.tsv", "sub/c.tsv"}},
		{"in/*", []string{"B.tsv", "a.tsv", "b.tsv.gz", "e*.tsv"}},
		{"in/*.tsv", []string{"B.tsv", "a.tsv", "e*.tsv"}},
		{"in/b*.gz", []string{"b.tsv.gz"}},
		{"in/*t*v*", []string{"B.tsv", "a.tsv", "b.tsv.gz", "e*.tsv"}},
		{"in/a.tsv", []string{"a.tsv"}},
		{"top", []string{"top"}},
		{"in/sub/", []string{"c.tsv"}},
		{"", []string{"in/B.tsv", "in/a.tsv", "in/b.tsv.gz", "in/e*.tsv", "in/sub/c.tsv", "in2/d.tsv", "top", "void"}},
	} {
		m, err := List(t.Context(), store, "mem://m/"+c.name, c.name)
		var keys []string
		for _, o := range m.Objects {
			keys = append(keys, o.Key)
			if info, err := store.Stat(t.Context(), Prefix(c.name)+o.Key); err != nil || info.Size != o.Size ||
				info.ETag != o.ETag {
				t.Errorf("%s: %+v, but the store says %+v, %v", c.name, o, info, err)
			}
		}
		if err != nil || !slices.Equal(keys, c.keys) || m.URI != "mem://m/"+c.name {
			t.Errorf("%s: %s %v, %v; want %v", c.name, m.URI, keys, err, c.keys)
		}
	}
	for _, name := range []string{"in/none", "none/", "in/*.csv", "in", "void", "in/a.tsv/"} {
		_, err := List(t.Context(), store, "mem://m/"+name, name)
		what := "nothing matches"
		if name == "void" {
			what = "all 1 matching objects are empty"
		}
		if !isFault(err, protocol.CodeInputEmpty, "mem://m/"+name) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, want INPUT_EMPTY with the URI, %s", name, err, what)
		}
	}
	for _, name := range []string{"*/a.tsv", "in//a"} {
		if _, err := List(t.Context(), store, "mem://m/"+name, name); !isCode(err, protocol.CodeSpecInvalid) {
			t.Errorf("%s: %v, want SPEC_INVALID", name, err)
		}
	}
}

// fakeStore answers with what a test puts into it.
type fakeStore struct {
	*datasettest.Store
	list []objstore.Info
	err  error
	get  func(objstore.GetOptions, io.ReadCloser, objstore.Info) (io.ReadCloser, objstore.Info, error)
}

func (s fakeStore) List(context.Context, string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		for _, info := range s.list {
			if !yield(info, nil) {
				return
			}
		}
		if s.err != nil {
			yield(objstore.Info{}, s.err)
		}
	}
}

func (s fakeStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	body, info, err := s.Store.Get(ctx, key, opt)
	if err != nil {
		return nil, info, err
	}
	return s.get(opt, body, info)
}

func TestListTakesNoListingOnTrust(t *testing.T) {
	info := func(key string, size int64) objstore.Info { return objstore.Info{Key: key, Size: size, ETag: "e"} }
	m, err := List(t.Context(), fakeStore{list: []objstore.Info{info("b", 1), info("folder/", 0), info("a", 1)}},
		"mem://m/", "")
	if err != nil || len(m.Objects) != 2 || m.Objects[0].Key != "a" || m.Objects[1].Key != "b" {
		t.Errorf("%v, %v; want a, b", m.Objects, err)
	}
	for name, list := range map[string][]objstore.Info{
		"twice":         {info("a", 1), info("a", 1)},
		"negative size": {info("a", -1)},
		"no ETag":       {{Key: "a", Size: 1}},
		"not UTF-8":     {info("\xff", 1)},
	} {
		if m, err := List(t.Context(), fakeStore{list: list}, "mem://m/", ""); err == nil {
			t.Errorf("%s: %v, want a fault", name, m.Objects)
		}
	}
	if _, err := List(t.Context(), fakeStore{err: objstore.ErrUnavailable}, "mem://m/", ""); !isCode(err,
		protocol.CodeStore) {
		t.Errorf("a listing that fails half-way: %v, want STORE", err)
	}
}

func TestStoreFault(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  protocol.Code
		class protocol.Class
	}{
		{objstore.ErrChanged, protocol.CodeInputChanged, protocol.ClassInput},
		{objstore.ErrNotFound, protocol.CodeInputChanged, protocol.ClassInput},
		{objstore.ErrRange, protocol.CodeInputChanged, protocol.ClassInput},
		{objstore.ErrDenied, protocol.CodeStoreDenied, protocol.ClassTask},
		{objstore.ErrInvalidKey, protocol.CodeSpecInvalid, protocol.ClassInput},
		{objstore.ErrInvalidURI, protocol.CodeSpecInvalid, protocol.ClassInput},
		{objstore.ErrUnavailable, protocol.CodeStore, protocol.ClassInfrastructure},
		{errors.Join(objstore.ErrUnavailable, context.DeadlineExceeded), protocol.CodeStore,
			protocol.ClassInfrastructure},
		{io.ErrUnexpectedEOF, protocol.CodeStore, protocol.ClassInfrastructure},
	} {
		err := StoreFault("key", &objstore.Error{Op: "get", Store: "mem://m", Key: "key", Err: c.err})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code || fault.Class != c.class || fault.Object != "key" ||
			*fault != *fault.WithoutOffset() || !errors.Is(err, c.err) {
			t.Errorf("%v becomes %v, want %s of class %d", c.err, err, c.code, c.class)
		}
		if again := StoreFault("other", err); again != err {
			t.Errorf("%v is wrapped again: %v", err, again)
		}
	}
	if StoreFault("key", nil) != nil || StoreFault("key", context.Canceled) != context.Canceled {
		t.Error("nil and the end of a context must pass through")
	}
}
