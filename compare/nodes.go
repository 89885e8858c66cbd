package compare

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Nodes is the first node that came out otherwise.
type Nodes struct {
	Says string `json:"says"`
	// Round counts from 1; 0 means that no round differs, or that none can be compared.
	Round int64  `json:"round,omitempty"`
	Phase string `json:"phase,omitempty"`
	Tree  int    `json:"tree"`
	Level int    `json:"level"`
	Index int    `json:"index"`
	// Leaves is how many leaves of the round differ, of Of.
	Leaves int64 `json:"leaves_differ,omitempty"`
	Of     int64 `json:"leaves,omitempty"`
}

// nodes finds the first node that differs, in order of round, tree and post-order: a leaf comes before what it was
// merged into.
func nodes(ctx context.Context, a, b *job) (Nodes, error) {
	if a.manifest == nil || b.manifest == nil {
		return Nodes{Says: "a job left no proof, so nodes cannot be compared"}, nil
	}
	x, y := a.manifest.Rounds, b.manifest.Rounds
	for i := range min(len(x), len(y)) {
		if x[i].Record.SHA256 == y[i].Record.SHA256 {
			continue
		}
		if x[i].Phase != y[i].Phase || x[i].Leaves != y[i].Leaves || x[i].Trees != y[i].Trees {
			of := func(r proof.Round) string {
				return fmt.Sprintf("%s, with %s in %s", r.Phase, protocol.Counted(r.Leaves, "leaf"),
					protocol.Counted(r.Trees, "tree"))
			}
			says := fmt.Sprintf("round %d is %s in the first, and %s in the second: from there nodes cannot be compared",
				x[i].Round, of(x[i]), of(y[i]))
			return Nodes{Round: x[i].Round, Phase: x[i].Phase, Says: says}, nil
		}
		left, err := a.record(ctx, x[i])
		if err != nil {
			return Nodes{}, err
		}
		right, err := b.record(ctx, y[i])
		if err != nil {
			return Nodes{}, err
		}
		return firstNode(left, right), nil
	}
	switch {
	case len(x) != len(y):
		return Nodes{Says: fmt.Sprintf("only the rounds up to round %d are the same; one job has %d, the other %d",
			min(len(x), len(y)), len(x), len(y))}, nil
	case a.manifest.Model != b.manifest.Model:
		return Nodes{Says: "all nodes are the same, and the last step made another model"}, nil
	}
	if len(x) == 1 {
		return Nodes{Says: "the same in the only round"}, nil
	}
	return Nodes{Says: fmt.Sprintf("the same in all %d rounds", len(x))}, nil
}

// firstNode compares two records of a round.
func firstNode(a, b *proof.Record) Nodes {
	found := Nodes{Round: a.Round, Phase: a.Phase, Of: a.Leaves()}
	if a.State != b.State {
		found.Says = fmt.Sprintf("round %d (%s) began with another state", a.Round, a.Phase)
		return found
	}
	if len(a.Trees) != len(b.Trees) { // a manifest that is not the job's may say otherwise
		found.Says = fmt.Sprintf("round %d (%s) has %s in one, and %d in the other", a.Round, a.Phase,
			protocol.Counted(len(a.Trees), "tree"), len(b.Trees))
		return found
	}
	first, place := "", -1 // the first node that differs
	for i, leaves := range a.Trees {
		tree := protocol.Tree(leaves)
		if b.Trees[i] != leaves {
			found.Says = fmt.Sprintf("round %d (%s): tree %d has %s in one, and %d in the other", a.Round,
				a.Phase, i, protocol.Counted(leaves, "leaf"), b.Trees[i])
			return found
		}
		for node := range proof.PostOrder(tree) {
			if place++; a.At(place) == b.At(place) {
				continue
			}
			if node.Level == 0 {
				found.Leaves++
			}
			if first == "" {
				first = nodeText(tree, node)
				found.Tree, found.Level, found.Index = i, node.Level, node.Index
			}
		}
	}
	found.Says = fmt.Sprintf("round %d (%s): %s of tree %d differs first; %d of %s differ", a.Round, a.Phase,
		first, found.Tree, found.Leaves, protocol.Counted(found.Of, "leaf"))
	return found
}

func nodeText(tree protocol.Tree, node protocol.Node) string {
	if node.Level == 0 {
		return fmt.Sprintf("leaf %d", node.Index)
	}
	first, end := tree.Range(node)
	return fmt.Sprintf("the merge of leaves %d to %d", first, end-1)
}

func (j *job) record(ctx context.Context, of proof.Round) (*proof.Record, error) {
	name := proof.RoundFile(of.Round)
	data, err := j.folder.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(data) != of.Record.SHA256 {
		return nil, j.damaged(name, errors.New("its digest is not the one that the proof names"))
	}
	r, err := proof.ReadRecord(data)
	if err != nil {
		return nil, j.damaged(name, err)
	}
	return r, nil
}
