package run

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// nodesOf folds a tree of leaves "0", "1", ...; of the nodes that cut names, the partial is made in a task of its own.
func nodesOf(t *testing.T, leaves int, cut ...protocol.Node) (root jobs.Arrays, kept []protocol.Node) {
	t.Helper()
	tasks, tree := tasksOf(t, bracket{}, 0), protocol.Tree(leaves)
	from := FoldSource{
		Leaf: func(_ context.Context, index int) (jobs.Arrays, error) { return text(fmt.Sprint(index)), nil },
		Keep: func(_ context.Context, node protocol.Node, _ jobs.Arrays) error {
			kept = append(kept, node)
			return nil
		},
	}
	made := map[protocol.Node]jobs.Arrays{}
	from.Made = func(_ context.Context, node protocol.Node) (jobs.Arrays, [32]byte, error) {
		return made[node], made[node].Digest(), nil
	}
	for _, node := range append(cut, tree.Canonical(tree.Root())) {
		partial, err := tasks.Fold(t.Context(), "bracket", tree, node, from)
		if err != nil {
			t.Fatal(err)
		}
		if made[node], err = jobs.Decode(partial.Encode()); err != nil {
			t.Fatal(err)
		}
		root = made[node]
	}
	return root, kept
}

// The root of three leaves lists leaf 0, leaf 1, their parent and leaf 2, which are worked out here.
func TestNodesBeneathARoot(t *testing.T) {
	pair := text("(0 1)")
	of := [][32]byte{text("0").Digest(), text("1").Digest()}
	jobs.Put(pair, "proof.nodes", slices.Concat(of[0][:], of[1][:]), 2, 32)
	of = append(of, pair.Digest(), text("2").Digest())
	root, kept := nodesOf(t, 3)
	beneath, err := Beneath(root)
	if want := slices.Concat(of[0][:], of[1][:], of[2][:], of[3][:]); err != nil || !slices.Equal(beneath, want) {
		t.Errorf("beneath the root are %x, %v; want %x", beneath, err, want)
	}
	want := []protocol.Node{{Index: 0}, {Index: 1}, {Level: 1}, {Index: 2}, {Level: 2}}
	if !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
}

// However a tree is made in pieces, its root is the same to the bit, with all that it lists.
func TestNodesDoNotDependOnPieces(t *testing.T) {
	whole, _ := nodesOf(t, 7)
	for _, cut := range [][]protocol.Node{
		{{Level: 1, Index: 1}}, {{Level: 2, Index: 1}, {Index: 0}}, {{Index: 5}, {Level: 1, Index: 0}, {Level: 2}},
	} {
		if root, kept := nodesOf(t, 7, cut...); root.Digest() != whole.Digest() || len(kept) != 13 {
			t.Errorf("cut at %v: another root, or %d nodes made", cut, len(kept))
		}
	}
}

// Wherever a tree is cut into pieces, folding them makes the root that folding its leaves makes, to the bit, and each
// node above the pieces is seen once.
func TestPiecesFoldToTheRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tasks := tasksOf(t, bracket{}, 0)
	for range 300 {
		leaves := 1 + rng.IntN(40)
		tree, digests := protocol.Tree(leaves), map[protocol.Node][32]byte{}
		var pieces []Piece
		var cut func(n protocol.Node)
		cut = func(n protocol.Node) {
			left, right, inner := tree.Children(n)
			if inner && rng.IntN(3) > 0 {
				cut(left)
				cut(right)
				return
			}
			partial, _ := tasks.Fold(t.Context(), "bracket", tree, n, FoldSource{
				Leaf: func(_ context.Context, index int) (jobs.Arrays, error) { return text(fmt.Sprint(index)), nil }})
			pieces = append(pieces, Piece{n, partial, partial.Digest()})
		}
		cut(tree.Canonical(tree.Root()))
		whole, _ := nodesOf(t, leaves)
		root, err := tasks.FoldPieces(t.Context(), "bracket", pieces,
			func(_ context.Context, node protocol.Node, partial jobs.Arrays) error {
				digests[node] = partial.Digest()
				return nil
			})
		if err != nil || root.Digest() != whole.Digest() || len(digests) != len(pieces)-1 {
			t.Fatalf("%d leaves in %d pieces: %v; the same root: %v; %d nodes seen", leaves, len(pieces), err,
				root.Digest() == whole.Digest(), len(digests))
		}
	}
}

// Pieces that leave a gap, and none, are refused.
func TestPiecesThatMakeNoTree(t *testing.T) {
	tasks := tasksOf(t, bracket{}, 0)
	gap := []Piece{{Node: protocol.Node{Index: 0}, Partial: text("0")},
		{Node: protocol.Node{Index: 2}, Partial: text("2")}}
	for _, pieces := range [][]Piece{nil, gap} {
		if _, err := tasks.FoldPieces(t.Context(), "bracket", pieces, nil); err == nil {
			t.Errorf("%d pieces were folded", len(pieces))
		}
	}
}

// What a leaf keeps for the next round changes the leaf's digest, and no phase sees that.
func TestCarriesAreDigested(t *testing.T) {
	plain := text("0")
	with := withCarry(plain, text("a"))
	if other := withCarry(plain, text("b")); with.Digest() == other.Digest() || with.Digest() == plain.Digest() {
		t.Error("two carries give a leaf one digest")
	}
	if got, beneath, err := detachNodes(with); err != nil || got.Digest() != plain.Digest() || beneath != nil {
		t.Errorf("detached %v, %x, %v", got.Names(), beneath, err)
	}
	if withCarry(plain, nil).Digest() != plain.Digest() {
		t.Error("a leaf that keeps nothing changes")
	}
}

// ignoring is a phase whose step reads no root.
type ignoring struct{ bracket }

func (p ignoring) Step(context.Context, jobs.Arrays, jobs.Round) (jobs.Next, error) {
	return p.next, nil
}

// A state keeps the number of rounds before it, how large their states were, and the digest of the last record, and so
// of all. A record lists the nodes of every tree, whether or not the step reads its root.
func TestStatesKeepTheRecords(t *testing.T) {
	tasks := tasksOf(t, ignoring{bracket{next: jobs.Next{Phase: "bracket", State: text("next")}}}, 0)
	root, _ := nodesOf(t, 3)
	beneath, err := Beneath(root)
	if err != nil {
		t.Fatal(err)
	}
	digest := root.Digest()
	state, size, before := text("first"), int64(0), proof.Digest{}
	for round := range int64(3) {
		if got, err := StatesBefore(state); got != size || err != nil {
			t.Fatalf("%d bytes, %v; want %d", got, err, size)
		}
		next, record, err := tasks.Step(t.Context(), "bracket", state, jobs.RoundOf(jobs.Plan{}, root, root))
		if err != nil {
			t.Fatal(err)
		}
		want := proof.Record{Round: round + 1, Phase: "bracket", State: state.Digest(), Before: before,
			StateSize: state.EncodedSize(), Trees: []int64{3, 3},
			Nodes: slices.Concat(beneath, digest[:], beneath, digest[:])}
		if !reflect.DeepEqual(*record, want) {
			t.Errorf("recorded %+v\nwant %+v", *record, want)
		}
		if _, err := proof.ReadRecord(record.Encode()); err != nil {
			t.Error(err)
		}
		size, before, state = size+state.EncodedSize(), sha256.Sum256(record.Encode()), next.State
		if _, k, err := detachKept(state); err != nil || *k.Record != before || k.Rounds != round+1 {
			t.Errorf("kept %+v, %v", k, err)
		}
	}
}
