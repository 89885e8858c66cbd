package objstoretest

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gram-compute/gram/objstore"
)

func testRoundTrip(t *testing.T, s suite) {
	for _, n := range []int{0, 1, 100, 64<<10 + 1, 3<<20 + 7} {
		key := fmt.Sprintf("of/%d/bytes", n)
		data := pattern(n, byte(n))
		wrote := put(t, s, key, data)
		got, info := mustGet(t, s, key, objstore.GetOptions{})
		wantBytes(t, key, got, data)
		stat, err := s.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		listed := list(t, s, key)
		if len(listed) != 1 {
			t.Fatalf("list %q: %v", key, listed)
		}
		for what, i := range map[string]objstore.Info{"put": wrote, "get": info, "stat": stat, "list": listed[0]} {
			if i.Key != key || i.Size != int64(n) || i.ETag == "" || i.ETag != wrote.ETag {
				t.Errorf("%s says %+v of %q, %d bytes, ETag %s", what, i, key, n, wrote.ETag)
			}
		}
	}
}

func testPutKeepsACopy(t *testing.T, s suite) {
	data := []byte("first")
	put(t, s, "k", data)
	copy(data, "XXXXX")
	got, _ := mustGet(t, s, "k", objstore.GetOptions{})
	wantBytes(t, "after the caller's slice changed", got, []byte("first"))
}

func testOverwrite(t *testing.T, s suite) {
	seen := map[string]string{}
	// Equal lengths, one right after the other: size and coarse clocks tell nothing.
	for i := range 20 {
		data := fmt.Sprintf("version %02d", i)
		etag := put(t, s, "k", []byte(data)).ETag
		if other, ok := seen[etag]; ok {
			t.Fatalf("%q and %q have the same ETag %s", other, data, etag)
		}
		seen[etag] = data
		got, info := mustGet(t, s, "k", objstore.GetOptions{IfMatch: etag})
		if string(got) != data || info.ETag != etag {
			t.Fatalf("got %q with ETag %s, want %q with %s", got, info.ETag, data, etag)
		}
	}
}

func testPutAgain(t *testing.T, s suite) {
	data := pattern(100<<10, 1)
	first := put(t, s, "k", data)
	if again := put(t, s, "k", data); again != first {
		t.Errorf("the same bytes put again: %+v, before %+v", again, first)
	}
	shorter := put(t, s, "k", data[:len(data)-1])
	if shorter.ETag == first.ETag {
		t.Errorf("a byte less, and the same ETag %s", shorter.ETag)
	}
}

func testNotFound(t *testing.T, s suite) {
	put(t, s, "a/b", []byte("x"))
	for _, key := range []string{"missing", "a", "a/b/c", "a/bb"} {
		_, _, err := s.Get(t.Context(), key, objstore.GetOptions{})
		wantErr(t, "get "+key, err, objstore.ErrNotFound)
		_, _, err = s.Get(t.Context(), key, objstore.GetOptions{IfMatch: "0123", Offset: 1, Length: 1})
		wantErr(t, "get a range of "+key, err, objstore.ErrNotFound)
		_, err = s.Stat(t.Context(), key)
		wantErr(t, "stat "+key, err, objstore.ErrNotFound)
	}
}

func testDelete(t *testing.T, s suite) {
	for _, key := range []string{"a/b/c", "a/b/d", "e"} {
		put(t, s, key, []byte(key))
	}
	for range 2 { // the second time nothing is there, which is no error
		for _, key := range []string{"a/b/c", "never/was", "a", "a/b", "e/f"} {
			if err := s.Delete(t.Context(), key); err != nil {
				t.Errorf("delete %q: %v", key, err)
			}
		}
	}
	if got := fmt.Sprint(keys(list(t, s, ""))); got != "[a/b/d e]" {
		t.Errorf("left over: %s", got)
	}
	if err := s.Delete(t.Context(), "a/b/d"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", []byte("its children are gone, so it may be an object"))
}

func testRanges(t *testing.T, s suite) {
	data := pattern(100_000, 3)
	size := int64(len(data))
	etag := put(t, s, "k", data).ETag
	for _, r := range []struct{ offset, length int64 }{
		{0, 0}, {0, 1}, {0, size}, {1, 0}, {1, 2}, {size - 1, 0}, {size - 1, 1}, {4096, 65536},
		{size / 2, size - size/2},
	} {
		opt := objstore.GetOptions{Offset: r.offset, Length: r.length, IfMatch: etag}
		end := r.offset + r.length
		if r.length == 0 {
			end = size
		}
		got, info := mustGet(t, s, "k", opt)
		wantBytes(t, fmt.Sprintf("range %+v", r), got, data[r.offset:end])
		if info.Size != size || info.ETag != etag {
			t.Errorf("range %+v: %+v describes the range, not the object", r, info)
		}
	}
	for _, r := range []struct{ offset, length int64 }{
		{size, 0}, {size, 1}, {size + 1, 0}, {0, size + 1}, {size - 1, 2}, {-1, 0}, {0, -1}, {1, 1<<63 - 1},
		{1<<63 - 1, 1<<63 - 1},
	} {
		_, _, err := get(t.Context(), s, "k", objstore.GetOptions{Offset: r.offset, Length: r.length})
		wantErr(t, fmt.Sprintf("range %+v", r), err, objstore.ErrRange)
	}
	put(t, s, "empty", nil)
	if got, _ := mustGet(t, s, "empty", objstore.GetOptions{}); len(got) != 0 {
		t.Errorf("the empty object has %d bytes", len(got))
	}
	_, _, err := get(t.Context(), s, "empty", objstore.GetOptions{Length: 1})
	wantErr(t, "a byte of nothing", err, objstore.ErrRange)
}

func testIfMatch(t *testing.T, s suite) {
	old := put(t, s, "k", []byte("old"))
	mustGet(t, s, "k", objstore.GetOptions{IfMatch: old.ETag})
	fresh := put(t, s, "k", []byte("new"))
	for _, opt := range []objstore.GetOptions{{}, {Offset: 1}, {Offset: 1, Length: 1}} {
		opt.IfMatch = old.ETag
		_, _, err := get(t.Context(), s, "k", opt)
		wantErr(t, fmt.Sprintf("the old version with %+v", opt), err, objstore.ErrChanged)
		opt.IfMatch = fresh.ETag
		mustGet(t, s, "k", opt)
	}
}

// testOverwriteWhileReading: a reader gets the old bytes or an error, never a mixture.
func testOverwriteWhileReading(t *testing.T, s suite) {
	old, fresh := pattern(8<<20, 1), pattern(8<<20, 2)
	put(t, s, "k", old)
	r, _, err := s.Get(t.Context(), "k", objstore.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	head := make([]byte, 1000)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", fresh)
	rest, err := io.ReadAll(r)
	if err != nil {
		if !errors.Is(err, objstore.ErrChanged) && !errors.Is(err, objstore.ErrUnavailable) {
			t.Errorf("error is %v, want ErrChanged or ErrUnavailable", err)
		}
		return
	}
	wantBytes(t, "read across an overwrite", append(head, rest...), old)
}
