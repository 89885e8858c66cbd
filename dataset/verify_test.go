package dataset

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset/datasettest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

func md5Of(data string) objstore.Digest {
	sum := md5.Sum([]byte(data))
	return objstore.Digest("md5:" + hex.EncodeToString(sum[:]))
}

// An object of up to 1 MiB is loaded; a longer one has a running sum if one piece is all of it.
func TestHowObjectsAreVerified(t *testing.T) {
	digest := md5Of("")
	for _, c := range []struct {
		object      Object
		piece       Piece
		format      string
		loads, sums bool
	}{
		{Object{Size: 1, Digest: digest}, Piece{End: 1}, "csv", true, false},
		{Object{Size: 1}, Piece{End: 1}, "csv", false, false},
		{Object{Size: 0, Digest: digest}, Piece{}, "csv", false, false},
		{Object{Size: loadedBytes, Digest: digest}, Piece{End: 9}, "csv", true, false},
		{Object{Size: loadedBytes, Digest: digest}, Piece{End: loadedBytes}, "csv", true, false},
		{Object{Size: loadedBytes + 1, Digest: digest}, Piece{End: loadedBytes + 1}, "csv", false, true},
		{Object{Size: loadedBytes + 1}, Piece{End: loadedBytes + 1}, "csv", false, false},
		{Object{Size: loadedBytes + 1, Digest: digest}, Piece{Start: 1, End: loadedBytes + 1}, "csv", false, false},
		{Object{Size: loadedBytes + 1, Digest: digest}, Piece{End: loadedBytes}, "csv", false, false},
		{Object{Size: loadedBytes + 1, Digest: digest}, Piece{End: loadedBytes + 1}, "npz", false, false},
	} {
		s := &Source{input: protocol.Input{Format: c.format}}
		if loaded, summed := loads(c.object), s.sums(c.object, c.piece); loaded != c.loads || summed != c.sums {
			t.Errorf("%+v: loaded %v, running sum %v", c, loaded, summed)
		}
	}
}

// A running sum takes every byte once and in order. Bytes that are read again must be the same, and must have been
// kept.
func TestRunningSumByHand(t *testing.T) {
	long := strings.Repeat("0123456789", 9000)
	for _, c := range []struct {
		name    string
		parts   [][2]int // read from and up to
		all     int
		strayed bool
	}{
		{"in order", [][2]int{{0, 3}, {3, 3}, {3, 9}}, 9, false},
		{"in order, beyond what is kept",
			[][2]int{{0, keptPrefix}, {keptPrefix, keptPrefix + 1}, {keptPrefix + 1, len(long)}}, len(long), false},
		{"the beginning again", [][2]int{{0, 5}, {0, 3}, {5, 9}}, 9, false},
		{"again and further", [][2]int{{0, 5}, {2, 9}}, 9, false},
		{"all that is kept, again", [][2]int{{0, len(long)}, {1, keptPrefix}}, len(long), false},
		{"more than is kept, again", [][2]int{{0, len(long)}, {1, keptPrefix + 1}}, len(long), true},
		{"more than is kept of two, again",
			[][2]int{{0, keptPrefix}, {keptPrefix, len(long)}, {1, keptPrefix + 1}}, len(long), true},
		{"the longest head, again", [][2]int{{0, len(long)}, {0, maxNPYHeader + 4<<10}}, len(long), false},
		{"a gap", [][2]int{{0, 5}, {6, 9}}, 5, true},
	} {
		sum, err := newRunningSum(Object{Digest: md5Of(long[:c.all])})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.parts {
			sum.add(int64(p[0]), []byte(long[p[0]:p[1]]))
		}
		right := string(sum.h.Sum(nil)) == string(sum.want)
		if !right || sum.strayed != c.strayed || sum.next != int64(c.all) {
			t.Errorf("%s: the sum is right: %v, strayed %v, %d bytes", c.name, right, sum.strayed, sum.next)
		}
	}
	sum, err := newRunningSum(Object{Digest: md5Of("01234")})
	if err != nil {
		t.Fatal(err)
	}
	sum.add(0, []byte("01234"))
	if sum.add(1, []byte("1x")); !sum.strayed {
		t.Error("other bytes in the second read are not noticed")
	}
}

// Labels beside the data are verified like the data.
func TestLabelsAreVerified(t *testing.T) {
	in := labelled("idx")
	labels := string(datasettest.IDX(8, []uint32{1}, []uint8{3}))
	store := storeOf(t, map[string]string{"d/f": string(datasettest.IDX(8, []uint32{1, 1}, []uint8{3})), "l/f": labels})
	m, shards, err := Plan(t.Context(), store, "d/", in)
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range []string{labels, labels[:len(labels)-1] + "\x04"} {
		m.Labels[0].Digest = md5Of(stored)
		s, err := NewSource(store, "d/", m, in)
		if err != nil {
			t.Fatal(err)
		}
		rows, _, err := readRows(t.Context(), s, shards)
		var fault *protocol.Fault
		right := err == nil && len(rows) == 1 && rows[0].Label == "3"
		if stored != labels {
			right = errors.As(err, &fault) && fault.Code == protocol.CodeInputDamaged &&
				fault.Object == "f" && *fault == *fault.WithoutOffset()
		}
		if !right {
			t.Errorf("stored as %q: %v, %v", stored, rows, err)
		}
	}
}
