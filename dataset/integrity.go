package dataset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// maxStats bounds how many objects of a listing are asked for one by one for their digest.
const maxStats = 100

// addDigests fills in what the store says of the bytes of listed objects. A listing holds ETags, and whether those
// are MD5s is asked of one object; those of another form are asked for their checksums, maxStats of them.
func addDigests(ctx context.Context, store objstore.Store, prefix string, objects []Object) error {
	asked, known, md5s := 0, false, false
	for i := range objects {
		o := &objects[i]
		guess := objstore.Digest("md5:" + o.ETag)
		if shaped := knownDigest(guess); shaped && known {
			if md5s {
				o.Digest = guess
			}
			continue
		} else if !shaped && (asked == maxStats || !strings.Contains(o.ETag, "-")) {
			continue // an ETag with a hyphen is of parts
		}
		info, err := store.Stat(ctx, prefix+o.Key)
		switch {
		case errors.Is(err, objstore.ErrDenied), errors.Is(err, objstore.ErrNotFound):
			info = objstore.Info{}
		case err != nil:
			return err
		}
		asked++
		if info.ETag == o.ETag {
			o.Digest = info.Digest
		}
		if knownDigest(guess) {
			known, md5s = true, o.Digest == guess
		}
	}
	return nil
}

func knownDigest(d objstore.Digest) bool {
	_, _, err := d.Hash()
	return err == nil
}

func (m *Manifest) dropDigests() {
	for _, list := range [][]Object{m.Objects, m.Labels, m.IDs} {
		for i := range list {
			list[i].Digest = ""
		}
	}
}

// Verified is what Integrity says of an object whose bytes are compared with what its store says of them whenever
// they are read.
const Verified = "verified"

const readInRanges = "it is read in ranges"

// Integrity says of each object whether it is verified, or why it is not verifiable; first of the objects, then of
// the labels and the ids.
func Integrity(m Manifest, input protocol.Input) (objects, labels, ids []string) {
	whole := newFormat(&input).whole()
	for _, o := range m.Objects {
		zipped, _ := isGzip(o.Key, input.Compression) // Plan has refused what this refuses
		uncut := whole || zipped || o.Size <= int64(input.ShardBytes)
		why := ""
		switch {
		case input.Format == "npz":
			why = "an npz is read in ranges; the checksums in it are compared"
		case !uncut:
			why = "it is longer than a shard and read in ranges; raise spec.input.shard_bytes"
		}
		objects = append(objects, integrity(o, input, why))
	}
	for _, o := range m.Labels {
		labels = append(labels, integrity(o, input, readInRanges))
	}
	for _, o := range m.IDs {
		ids = append(ids, integrity(o, input, readInRanges))
	}
	return objects, labels, ids
}

// integrity is what Integrity says of one object; why is what keeps a longer one from being verified.
func integrity(o Object, input protocol.Input, why string) string {
	switch {
	case o.Size == 0:
		why = "it is empty"
	case input.Verify == protocol.VerifyOff:
		why = "spec.input.verify is off"
	case o.Digest == "" && strings.Contains(o.ETag, "-"):
		why = "it was put in parts, and the store has no checksum of the whole"
	case o.Digest == "":
		why = "the store has no checksum of it"
	case o.Size <= loadedBytes || why == "":
		return Verified
	}
	return fmt.Sprintf("not verifiable: %s", why)
}
