package verify

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Falsehood is something that is not what the job says it is.
type Falsehood struct {
	What  string `json:"what"` // the file, leaf, merge or step
	Says  string `json:"says"` // what the job says of it, and what was found
	Round int64  `json:"round,omitempty"`
	Phase string `json:"phase,omitempty"`
	Tree  int    `json:"tree"`
	Level int    `json:"level"`
	Index int    `json:"index"`

	place int // in the post-order of its tree
}

func (f *Falsehood) Error() string { return f.What + ": " + f.Says }

// before reports whether f comes before another in order of round, tree and post-order.
func (f *Falsehood) before(other *Falsehood) bool {
	return other == nil || cmp.Or(cmp.Compare(f.Round, other.Round), cmp.Compare(f.Tree, other.Tree),
		cmp.Compare(f.place, other.place)) < 0
}

// errMissing ends a check that cannot go on; the result lists what is missing.
var errMissing = errors.New("something is missing")

// missing notes that something is missing.
func (v *verifier) missing(format string, args ...any) {
	v.result.Missing = append(v.result.Missing, fmt.Sprintf(format, args...))
}

// falseFile says that a file is not what another says of it.
func falseFile(name, format string, args ...any) *Falsehood {
	return &Falsehood{What: "the file " + name, Says: fmt.Sprintf(format, args...)}
}

// falseNode says that repeating a node gave another digest.
func (v *verifier) falseNode(record *proof.Record, tree int, node protocol.Node, got proof.Digest) *Falsehood {
	return v.atNode(record, tree, node, fmt.Sprintf("the job says %s, repeating it gives %s",
		record.Node(tree, node), got))
}

func (v *verifier) atNode(record *proof.Record, tree int, node protocol.Node, says string) *Falsehood {
	what := fmt.Sprintf("leaf %d", node.Index)
	if node.Level > 0 {
		first, end := protocol.Tree(record.Trees[tree]).Range(node)
		what = fmt.Sprintf("the merge (%d,%d) of leaves %d to %d", node.Level, node.Index, first, end-1)
	} else if len(record.Trees) == 1 {
		what += v.job.shardText(node.Index)
	}
	return &Falsehood{What: fmt.Sprintf("round %d (%s), tree %d, %s", record.Round, record.Phase, tree, what),
		Says: says, Round: record.Round, Phase: record.Phase, Tree: tree, Level: node.Level, Index: node.Index,
		place: proof.Place(protocol.Tree(record.Trees[tree]), node)}
}

// falseStep says that a step made something else of its round.
func falseStep(record *proof.Record, made, want, got string) *Falsehood {
	return &Falsehood{What: fmt.Sprintf("round %d (%s), the step", record.Round, record.Phase),
		Says:  fmt.Sprintf("the job says that it made %s %s, repeating it gives %s", made, want, got),
		Round: record.Round, Phase: record.Phase, Tree: len(record.Trees)}
}
