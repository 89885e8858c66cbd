package objstore_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
)

func TestSplitObjectURI(t *testing.T) {
	for _, c := range []struct{ uri, store, key string }{
		{"s3://bucket", "s3://bucket", ""},
		{"s3://bucket/", "s3://bucket", ""},
		{"s3://b-1.x/p/x.tsv", "s3://b-1.x", "p/x.tsv"},
		{"s3://bucket/p/", "s3://bucket", "p/"},
		{"s3://bucket/p/*.tsv.gz", "s3://bucket", "p/*.tsv.gz"},
		{"s3://bucket/a%20b?c#d+e", "s3://bucket", "a%20b?c#d+e"},
		{"mem://m/x", "mem://m", "x"},
		{"file:///d/f.tsv", "file:///d", "f.tsv"},
		{"file:///f.tsv", "file:///", "f.tsv"},
		{"file:///d/in/", "file:///d/in", ""},
		{"file:///d/*.tsv", "file:///d", "*.tsv"},
		{"file:///", "file:///", ""},
	} {
		store, key, err := objstore.SplitObjectURI(c.uri)
		if err != nil || store != c.store || key != c.key {
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.uri, store, key, err, c.store, c.key)
		}
		if _, err := objstore.ParseURI(store); err != nil {
			t.Errorf("%s gives the store %q, which does not parse: %v", c.uri, store, err)
		}
	}
}

func TestBadURIs(t *testing.T) {
	for _, uri := range []string{
		"", "x", "/d/f", "s3:/b/k", "s3://", "s3:///k", "s3://ab", "s3://UPPER/k", "s3://b_c/k", "s3://-bc/k",
		"s3://bc-/k",
		"s3://a..b/k", "s3://bucket/../k", "s3://bucket//k", "s3://bucket/a\nb", "gs://bucket/k", "http://h/k",
		"mem:///k",
		"s3://AKIA:hunter2@bucket/k", "file://host/f", "file://f", "file:///a/../b", "file:///a//b", "file:////",
		"file:///a//", "file:///a/./b", "file:///a\x00",
		"s3://" + strings.Repeat("b", 64),
	} {
		_, _, err := objstore.SplitObjectURI(uri)
		if !errors.Is(err, objstore.ErrInvalidURI) {
			t.Errorf("%q: %v", uri, err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error repeats the password: %v", uri, err)
		}
	}
}

func FuzzParseURI(f *testing.F) {
	for _, uri := range []string{"s3://bucket/a/b", "mem://m", "file:///d/f", "file:///", "s3://b/../x",
		"s3://u:p@b/k"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		u, err := objstore.ParseURI(uri)
		if err != nil {
			if !errors.Is(err, objstore.ErrInvalidURI) {
				t.Fatalf("%q: %v is no ErrInvalidURI", uri, err)
			}
			return
		}
		again, err := objstore.ParseURI(u.String())
		if err != nil || again != u {
			t.Fatalf("%q parses as %+v, written %q, which parses as %+v, %v", uri, u, u, again, err)
		}
		store, key, err := objstore.SplitObjectURI(uri)
		if err != nil {
			t.Fatalf("%q parses but does not split: %v", uri, err)
		}
		if err := objstore.ValidPrefix(key); err != nil {
			t.Fatalf("%q gives the prefix %q: %v", uri, key, err)
		}
		if joined := strings.TrimSuffix(store, "/") +
			"/" + key; strings.TrimSuffix(joined, "/") != strings.TrimSuffix(uri, "/") {
			t.Fatalf("%q splits into %q and %q", uri, store, key)
		}
	})
}

// FuzzValidKey compares the two checks: every prefix of a valid
// key is a valid prefix, and a valid prefix grows into a valid key.
func FuzzValidKey(f *testing.F) {
	for _, key := range []string{"", "a", "a/b", "a//b", "..", "a/..", "/", "a/", "é", "\xff", "a\tb"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if objstore.ValidKey(key) == nil {
			for i := range key { // at character boundaries
				if err := objstore.ValidPrefix(key[:i]); err != nil {
					t.Fatalf("%q is valid, its prefix %q is not: %v", key, key[:i], err)
				}
			}
		}
		if len(key) < objstore.MaxKeyBytes && objstore.ValidPrefix(key) == nil {
			if err := objstore.ValidKey(key + "x"); err != nil {
				t.Fatalf("%q is a valid prefix, %q is no valid key: %v", key, key+"x", err)
			}
		}
	})
}

func TestReadAll(t *testing.T) {
	s := mem.New("t")
	if _, err := s.Put(t.Context(), "k", []byte("0123456789")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opt   objstore.GetOptions
		limit int64
		want  string
	}{
		{objstore.GetOptions{}, 10, "0123456789"},
		{objstore.GetOptions{}, 1 << 40, "0123456789"},
		{objstore.GetOptions{Offset: 2, Length: 3}, 3, "234"},
	} {
		data, info, err := objstore.ReadAll(t.Context(), s, "k", c.opt, c.limit)
		if err != nil || string(data) != c.want || info.Size != 10 {
			t.Errorf("%+v: %q, %+v, %v", c, data, info, err)
		}
	}
	if data, _, err := objstore.ReadAll(t.Context(), s, "k", objstore.GetOptions{}, 9); err == nil {
		t.Errorf("9 bytes allowed, read %q", data)
	}
	short := faulty.Wrap(s, faulty.Rule{Cut: 5})
	if _, _, err := objstore.ReadAll(t.Context(), short, "k", objstore.GetOptions{}, 10); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a body cut short: %v", err)
	}
}
