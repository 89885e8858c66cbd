package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

// round is a record with what finds its nodes.
type round struct {
	*proof.Record
	node []int   // of each tree, how many nodes the trees before it have
	leaf []int64 // of each tree, how many leaves the trees before it have
}

func newRound(r *proof.Record) *round {
	x := &round{Record: r, node: make([]int, len(r.Trees)), leaf: make([]int64, len(r.Trees))}
	nodes, leaves := 0, int64(0)
	for i, n := range r.Trees {
		x.node[i], x.leaf[i] = nodes, leaves
		nodes += proof.Nodes(protocol.Tree(n))
		leaves += n
	}
	return x
}

func (r *round) tree(i int) protocol.Tree { return protocol.Tree(r.Trees[i]) }

// place is the place of a node among all of the round.
func (r *round) place(tree int, node protocol.Node) int {
	return r.node[tree] + proof.Place(r.tree(tree), node)
}

// recorded returns the digest that the record has of a node, in constant time.
func (r *round) recorded(tree int, node protocol.Node) proof.Digest {
	return r.At(r.place(tree, node))
}

// leafAt finds a leaf that is counted over all trees.
func (r *round) leafAt(leaf int64) (tree, index int) {
	tree = sort.Search(len(r.leaf), func(i int) bool { return r.leaf[i] > leaf }) - 1
	return tree, int(leaf - r.leaf[tree])
}

// finding begins a finding of a node of the round: what it says names the node, and is not yet a sentence.
func (v *verifier) finding(r *round, tree int, node protocol.Node) Finding {
	f := Finding{Of: OfMerge, Round: r.Round, Phase: r.Phase, Tree: tree, Node: &node, place: r.place(tree, node)}
	first, end := r.tree(tree).Range(node)
	if end-first == 1 {
		f.Of = OfLeaf
		f.Says = fmt.Sprintf("Round %d (%s), tree %d, leaf %d%s", r.Round, r.Phase, tree, first, v.shardText(r, tree,
			first))
		return f
	}
	f.Says = fmt.Sprintf("Round %d (%s), tree %d, the merge of leaves %d to %d", r.Round, r.Phase, tree, first, end-1)
	return f
}

// shardText names the shard of a leaf, where the leaves of a tree are the shards.
func (v *verifier) shardText(r *round, tree, leaf int) string {
	if len(v.inputs) == 0 || int(r.Trees[tree]) != len(v.inputs[0].shards) {
		return ""
	}
	return " (" + v.inputs[0].text(leaf) + ")"
}

// stepFinding begins a finding of the step of a round.
func stepFinding(r *round) Finding {
	return Finding{Of: OfStep, Round: r.Round, Phase: r.Phase, place: math.MaxInt,
		Says: fmt.Sprintf("Round %d (%s), the step", r.Round, r.Phase)}
}

// differs completes a finding of a digest that repeating does not give.
func (f Finding) differs(recorded, repeated proof.Digest) Finding {
	f.Recorded, f.Repeated = &recorded, &repeated
	f.Says += fmt.Sprintf(": the job says %s, and repeating it gives %s.", short(recorded), short(repeated))
	return f
}

// readers is how many files are read at a time.
const readers = 16

// openRecords reads the records of all rounds and compares them with the manifest and with each other.
func (v *verifier) openRecords(ctx context.Context) error {
	list := v.manifest.Rounds
	v.stage("records", "files", int64(len(list)))
	records := make([]*proof.Record, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, r := range list {
		group.Go(func() error {
			defer v.advance()
			name := proof.RoundFile(r.Round)
			data, err := v.readFile(ctx, name, r.Record, maxRecordBytes)
			if data == nil || err != nil {
				return err
			}
			if records[i], err = proof.ReadRecord(data); err != nil {
				return v.contradicts(name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	leaves := int64(0)
	v.rounds = make([]*round, len(list))
	for i, r := range records {
		leaves += list[i].Leaves
		if r == nil {
			records = nil
			continue
		}
		v.rounds[i] = newRound(r)
		v.result.Merges.Of += int64(len(r.Nodes)/len(proof.Digest{})) - r.Leaves()
		v.checkRecord(i, r)
	}
	v.records = records
	if len(list) == 0 {
		return v.contradicts(proof.ManifestFile, errors.New("it lists no round"))
	}
	v.checkKept()
	v.result.Rounds.Of, v.result.Steps.Of, v.result.Leaves.Of = int64(len(list)), int64(len(list)), leaves
	return nil
}

// checkKept compares the rounds whose state the manifest says is kept with what follows from spec and records. A state
// that is left out would keep the leaves of its round from being drawn.
func (v *verifier) checkKept() {
	if v.records == nil || v.planned.Manifests == nil {
		return
	}
	input, states := int64(0), int64(0)
	for _, m := range v.planned.Manifests {
		for _, o := range m.Objects {
			input += o.Size
		}
	}
	for i, r := range v.records {
		states += r.StateSize
		if keeps := proof.KeepsState(v.manifest.Kept, input, states); keeps != v.manifest.Rounds[i].State {
			v.noteFalse(Finding{Of: OfRecord, File: proof.ManifestFile, Round: r.Round, Says: fmt.Sprintf(
				"%s says that the state of round %d is kept: %t. By spec and records it is: %t.", proof.ManifestFile,
				r.Round, !keeps, keeps)})
			return
		}
	}
}

// checkRecord compares a record with its entry in the manifest and with what came before it.
func (v *verifier) checkRecord(i int, r *proof.Record) {
	m := v.manifest.Rounds[i]
	name := proof.RoundFile(m.Round)
	check := func(field string, got, want any) {
		if got != want {
			v.noteFalse(Finding{Of: OfRecord, File: name, Round: m.Round,
				Says: fmt.Sprintf("%s has %s %v, and the files before it say %v.", name, field, got, want)})
		}
	}
	check("round", r.Round, m.Round)
	check("phase", r.Phase, m.Phase)
	check("trees", len(r.Trees), m.Trees)
	check("leaves", r.Leaves(), m.Leaves)
	if i > 0 {
		check("before", r.Before, v.manifest.Rounds[i-1].Record.SHA256)
		return
	}
	if v.tasks != nil {
		check("phase", r.Phase, v.tasks.First())
	}
	if len(v.planned.Shards) > 0 {
		check("trees", len(r.Trees), 1)
		check("leaves", r.Leaves(), int64(len(v.planned.Shards[0])))
	}
}
