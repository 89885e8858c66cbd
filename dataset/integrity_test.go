package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

const (
	md5s  = "d41d8cd98f00b204e9800998ecf8427e" // an ETag of the form of an MD5
	ofMD5 = objstore.Digest("md5:" + md5s)
	crc   = objstore.Digest("crc32c:00000000")
)

// statStore answers Stat by a function, and counts the calls.
type statStore struct {
	*datasettest.Store
	asked *int
	stat  func(key string) (objstore.Info, error)
}

func (s statStore) Stat(_ context.Context, key string) (objstore.Info, error) {
	*s.asked++
	return s.stat(key)
}

// Whether ETags are MD5s is asked once; the checksums of objects that were put in parts are asked for one by one.
func TestAddDigestsByHand(t *testing.T) {
	answer := func(etag string, digest objstore.Digest) func(string) (objstore.Info, error) {
		return func(string) (objstore.Info, error) { return objstore.Info{ETag: etag, Digest: digest}, nil }
	}
	fail := func(err error) func(string) (objstore.Info, error) {
		return func(string) (objstore.Info, error) { return objstore.Info{}, err }
	}
	for _, c := range []struct {
		name  string
		etags []string
		stat  func(string) (objstore.Info, error)
		want  []objstore.Digest
		asked int
	}{
		{"MD5s", []string{md5s, md5s, md5s}, answer(md5s, ofMD5), []objstore.Digest{ofMD5, ofMD5, ofMD5}, 1},
		{"no MD5s", []string{md5s, md5s}, answer(md5s, ""), []objstore.Digest{"", ""}, 1},
		{"a better one than MD5", []string{md5s, md5s}, answer(md5s, crc), []objstore.Digest{crc, ""}, 1},
		{"of parts", []string{"x-2", "x-2"}, answer("x-2", crc), []objstore.Digest{crc, crc}, 2},
		{"of another form", []string{"x", "y"}, answer("x", crc), []objstore.Digest{"", ""}, 0},
		{"replaced since", []string{"x-2"}, answer("y-2", crc), []objstore.Digest{""}, 1},
		{"denied", []string{md5s, "x-2"}, fail(objstore.ErrDenied), []objstore.Digest{"", ""}, 2},
		{"gone", []string{"x-2"}, fail(objstore.ErrNotFound), []objstore.Digest{""}, 1},
		{"unwell", []string{"x-2"}, fail(objstore.ErrUnavailable), nil, 1},
	} {
		objects, asked := make([]Object, len(c.etags)), 0
		for i, etag := range c.etags {
			objects[i] = Object{Key: fmt.Sprint(i), Size: 1, ETag: etag}
		}
		err := addDigests(t.Context(), statStore{asked: &asked, stat: c.stat}, "", objects)
		var got []objstore.Digest
		for _, o := range objects {
			got = append(got, o.Digest)
		}
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(got, c.want) || asked != c.asked {
			t.Errorf("%s: %q after %d questions, %v; want %q after %d", c.name, got, asked, err, c.want, c.asked)
		}
	}
}

// At most maxStats objects of a listing are asked for one at a time.
func TestDigestsOfManyParts(t *testing.T) {
	objects, asked := make([]Object, maxStats+1), 0
	for i := range objects {
		objects[i] = Object{Key: fmt.Sprint(i), Size: 1, ETag: "x-2"}
	}
	store := statStore{asked: &asked, stat: func(string) (objstore.Info, error) {
		return objstore.Info{ETag: "x-2", Digest: crc}, nil
	}}
	err := addDigests(t.Context(), store, "", objects)
	last, next := objects[maxStats-1].Digest, objects[maxStats].Digest
	if err != nil || asked != maxStats || last != crc || next != "" {
		t.Errorf("%d questions, the digests %q and %q, %v; want %d questions", asked, last, next, err, maxStats)
	}
}

// An object is verified if all its bytes are read at once, or if it is small enough to be loaded.
func TestIntegrityByHand(t *testing.T) {
	const shard = 2 << 20
	object := func(size int64, etag string, digest objstore.Digest) Object {
		return Object{Key: "a", Size: size, ETag: etag, Digest: digest}
	}
	for _, c := range []struct {
		name   string
		in     protocol.Input
		object Object
		want   string
	}{
		{"a shard", protocol.Input{Format: "csv"}, object(shard, md5s, crc), Verified},
		{"more than a shard", protocol.Input{Format: "csv"}, object(shard+1, md5s, crc), "it is longer than a shard"},
		{"whole lines in quotes", protocol.Input{Format: "csv", Multiline: true}, object(shard+1, md5s, crc), Verified},
		{"gzip", protocol.Input{Format: "csv", Compression: "gzip"}, object(shard+1, md5s, crc), Verified},
		{"a small npz", protocol.Input{Format: "npz"}, object(loadedBytes, md5s, crc), Verified},
		{"an npz", protocol.Input{Format: "npz"}, object(loadedBytes+1, md5s, crc), "an npz is read in ranges"},
		{"empty", protocol.Input{Format: "csv"}, object(0, md5s, crc), "it is empty"},
		{"off", protocol.Input{Format: "csv", Verify: "off"}, object(1, md5s, crc), "spec.input.verify is off"},
		{"of parts", protocol.Input{Format: "csv"}, object(1, "x-2", ""), "it was put in parts"},
		{"without a digest", protocol.Input{Format: "csv"}, object(1, "x", ""), "the store has no checksum"},
		{"of parts with a digest", protocol.Input{Format: "csv"}, object(1, "x-2", crc), Verified},
	} {
		c.in.ShardBytes = shard
		got, none, noIDs := Integrity(Manifest{Objects: []Object{c.object}}, c.in.WithDefaults())
		if len(got) != 1 || len(none) != 0 || len(noIDs) != 0 || got[0] != c.want &&
			!strings.HasPrefix(got[0], "not verifiable: "+c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		loaded, longer := object(loadedBytes, md5s, crc), object(loadedBytes+1, md5s, crc)
		c.in.Verify = "on"
		m := Manifest{Objects: []Object{c.object}, Labels: []Object{loaded, longer}, IDs: []Object{longer, loaded}}
		_, labels, ids := Integrity(m, c.in.WithDefaults())
		want := []string{Verified, "not verifiable: it is read in ranges"}
		if !slices.Equal(labels, want) || ids[0] != want[1] || ids[1] != want[0] {
			t.Errorf("%s: labels %q, ids %q", c.name, labels, ids)
		}
	}
}
