// Package objstoretest is the conformance suite of object stores: what
// objstore.Store promises, as tests that every implementation passes.
package objstoretest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gram-compute/gram/objstore"
)

// Trait is what a store may do otherwise than the suite expects.
type Trait int

// ParentsUnnoticed: the store lets a key be the parent of another, as Amazon's
// does, or hides the child then, as MinIO does.
const ParentsUnnoticed Trait = 1

// suite is one run: the store and what is known of it.
type suite struct {
	objstore.Store
	parentsUnnoticed bool
}

// Run tests stores made by open, which gives an empty one at each call.
func Run(t *testing.T, open func(t *testing.T) objstore.Store, traits ...Trait) {
	for _, c := range []struct {
		name string
		test func(*testing.T, suite)
	}{
		{"RoundTrip", testRoundTrip},
		{"PutKeepsACopy", testPutKeepsACopy},
		{"Overwrite", testOverwrite},
		{"PutAgain", testPutAgain},
		{"NotFound", testNotFound},
		{"Delete", testDelete},
		{"Ranges", testRanges},
		{"IfMatch", testIfMatch},
		{"OverwriteWhileReading", testOverwriteWhileReading},
		{"OddKeys", testOddKeys},
		{"InvalidKeys", testInvalidKeys},
		{"ParentClash", testParentClash},
		{"PutNew", testPutNew},
		{"PutNewRace", testPutNewRace},
		{"PutIfMatch", testPutIfMatch},
		{"ListOrder", testListOrder},
		{"ListPrefix", testListPrefix},
		{"ListMany", testListMany},
		{"ListAgainstModel", testListAgainstModel},
		{"ConcurrentPuts", testConcurrentPuts},
		{"Cancelled", testCancelled},
		{"Errors", testErrors},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, suite{Store: open(t), parentsUnnoticed: slices.Contains(traits, ParentsUnnoticed)})
		})
	}
}

func put(t *testing.T, s objstore.Store, key string, data []byte) objstore.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, data)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return info
}

func get(ctx context.Context, s objstore.Store, key string, opt objstore.GetOptions) ([]byte, objstore.Info, error) {
	r, info, err := s.Get(ctx, key, opt)
	if err != nil {
		if r != nil {
			return nil, info, errors.New("get gave both a reader and an error")
		}
		return nil, info, err
	}
	data, err := io.ReadAll(r)
	return data, info, errors.Join(err, r.Close())
}

func mustGet(t *testing.T, s objstore.Store, key string, opt objstore.GetOptions) ([]byte, objstore.Info) {
	t.Helper()
	data, info, err := get(t.Context(), s, key, opt)
	if err != nil {
		t.Fatalf("get %q %+v: %v", key, opt, err)
	}
	return data, info
}

func list(t *testing.T, s objstore.Store, prefix string) []objstore.Info {
	t.Helper()
	var infos []objstore.Info
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		infos = append(infos, info)
	}
	return infos
}

func keys(infos []objstore.Info) []string {
	var out []string
	for _, info := range infos {
		out = append(out, info.Key)
	}
	return out
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error is %v, want %v", what, err, want)
	}
}

// pattern gives n bytes in which no two places look alike.
func pattern(n int, salt byte) []byte {
	b := make([]byte, n)
	x := uint32(salt) + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func wantBytes(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got %d bytes, want %d; they differ from byte %d", what, len(got), len(want),
			firstDifference(got, want))
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
