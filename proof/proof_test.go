package proof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// The nodes of five leaves, written out by hand from the drawing in docs/protocol.md.
func TestPostOrderOfFiveLeaves(t *testing.T) {
	want := []protocol.Node{
		{Index: 0}, {Index: 1}, {Level: 1, Index: 0}, {Index: 2}, {Index: 3}, {Level: 1, Index: 1},
		{Level: 2, Index: 0}, {Index: 4}, {Level: 3, Index: 0},
	}
	if got := slices.Collect(proof.PostOrder(5)); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// Place is the place in PostOrder, for every node of small trees.
func TestPlace(t *testing.T) {
	for tree := protocol.Tree(1); tree < 140; tree++ {
		at := 0
		for node := range proof.PostOrder(tree) {
			if got := proof.Place(tree, node); got != at {
				t.Fatalf("%d leaves: node %v is at %d, not %d", tree, node, got, at)
			}
			at++
		}
		if at != proof.Nodes(tree) {
			t.Fatalf("%d leaves: %d nodes, not %d", tree, at, proof.Nodes(tree))
		}
	}
}

// Roots of small lists, put together by hand as RFC 6962 says.
func TestRoot(t *testing.T) {
	entry := func(b byte) proof.Digest { return proof.Digest{b} }
	leaf := func(b byte) []byte {
		d := entry(b)
		sum := sha256.Sum256(append([]byte{0}, d[:]...))
		return sum[:]
	}
	node := func(a, b []byte) []byte {
		sum := sha256.Sum256(slices.Concat([]byte{1}, a, b))
		return sum[:]
	}
	for _, c := range []struct {
		list []proof.Digest
		want []byte
	}{
		{nil, unhex(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")},
		{[]proof.Digest{entry(1)}, leaf(1)},
		{[]proof.Digest{entry(1), entry(2)}, node(leaf(1), leaf(2))},
		{[]proof.Digest{entry(1), entry(2), entry(3)}, node(node(leaf(1), leaf(2)), leaf(3))},
		{
			[]proof.Digest{entry(1), entry(2), entry(3), entry(4), entry(5)},
			node(node(node(leaf(1), leaf(2)), node(leaf(3), leaf(4))), leaf(5)),
		},
	} {
		if got := proof.Root(c.list); !slices.Equal(got[:], c.want) {
			t.Errorf("%d entries: %s, want %x", len(c.list), got, c.want)
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func record() *proof.Record {
	r := &proof.Record{Round: 3, Phase: "lloyd", State: proof.Digest{1}, StateSize: 7, Trees: []int64{2, 1},
		Nodes: make([]byte, 4*32), Before: proof.Digest{2}}
	for i := range r.Nodes {
		r.Nodes[i] = byte(i / 32)
	}
	return r
}

// A record is read as it was written, and names the digest of each node.
func TestRecord(t *testing.T) {
	data := record().Encode()
	r, err := proof.ReadRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Encode()) != string(data) || r.Round != 3 || r.Phase != "lloyd" || r.Leaves() != 3 {
		t.Errorf("read %+v", r)
	}
	for tree, nodes := range [][]protocol.Node{{{Index: 0}, {Index: 1}, {Level: 1}}, {{}}} {
		for i, node := range nodes {
			if got := r.Node(tree, node); got[5] != byte(3*tree+i) {
				t.Errorf("tree %d, node %v: %s", tree, node, got)
			}
		}
	}
	arrays := jobs.ArraysOf(r)
	jobs.Put(arrays, "trees", []int64{2, 2})
	if _, err := proof.ReadRecord(arrays.Encode()); err == nil {
		t.Error("4 digests were read as those of 6 nodes")
	}
}

// Whatever bytes are read as a record are those that it is written as.
func FuzzReadRecord(f *testing.F) {
	f.Add(record().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := proof.ReadRecord(data)
		if err == nil && string(r.Encode()) != string(data) {
			t.Errorf("%q is read, and written as %q", data, r.Encode())
		}
	})
}

func manifest() *proof.Manifest {
	m := &proof.Manifest{SchemaVersion: 1, Job: "j", Kept: proof.States,
		Rounds: []proof.Round{{Round: 1, Phase: "p", Trees: 1, Leaves: 3, Record: proof.File{Size: 5}}}}
	m.Root = m.ComputeRoot()
	return m
}

// A manifest with a changed bit is refused, unless the bit is in the value of a field that the root does not cover:
// readers compare these with the records and with provenance.json, which has the digest of the whole file. No such bit
// is in a digest, in kept or state, which have few values, or in how the JSON is written.
func TestManifest(t *testing.T) {
	data, err := manifest().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.ReadManifest(data); err != nil {
		t.Fatal(err)
	}
	outside := 0
	for bit := range 8 * len(data) {
		changed := slices.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		m, err := proof.ReadManifest(changed)
		if err != nil {
			continue
		}
		outside++
		if covered, want := withoutUncovered(m), withoutUncovered(manifest()); !reflect.DeepEqual(covered, want) {
			t.Errorf("bit %d was changed, and %+v was read, not %+v", bit, covered, want)
		}
	}
	// Seven bits of a letter, j or p, make another one. Of the digit 0 four bits make another digit, in the sizes of
	// four files; of the 5 and the 3 three bits; and of one tree one bit makes three, which three leaves allow.
	if want := 7 + 7 + 4*4 + 3 + 3 + 1; outside != want {
		t.Errorf("%d of %d changed bits were read, not %d", outside, 8*len(data), want)
	}
}

// withoutUncovered clears what the root of a manifest does not cover.
func withoutUncovered(m *proof.Manifest) *proof.Manifest {
	m.Job = ""
	for _, f := range []*proof.File{&m.Spec, &m.Input, &m.Plan, &m.Model, &m.Rounds[0].Record} {
		f.Size = 0
	}
	m.Rounds[0].Phase, m.Rounds[0].Trees, m.Rounds[0].Leaves = "", 0, 0
	return m
}

// Whatever bytes are read as a manifest are those that it is written as.
func FuzzReadManifest(f *testing.F) {
	data, err := manifest().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := proof.ReadManifest(data)
		if err != nil {
			return
		}
		if again, err := m.Encode(); err != nil || string(again) != string(data) {
			t.Errorf("%q is read, and written as %q", data, again)
		}
	})
}
