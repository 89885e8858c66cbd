package jobstest

import (
	"context"
	"fmt"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// concat is an algorithm whose order shows: the model is all texts of three rounds, in
// order, each leaf's text after its carry. When leaky, Merge also tells how often it ran.
type concat struct {
	leaky  bool
	merges *int
}

func (c concat) Phases() []jobs.Phase { return []jobs.Phase{c} }
func (concat) Name() string           { return "concat" }

func (concat) Map(ctx context.Context, _ jobs.Arrays, leaf jobs.Leaf, carry jobs.Arrays, _ *kernelops.Set) (jobs.Arrays,
	jobs.Arrays, error) {
	text := ""
	if carry != nil {
		text, _ = carry.Text("text")
	}
	for block, err := range leaf.Blocks(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, t := range block.Texts {
			text += string(t)
		}
	}
	return textOf(text), textOf(fmt.Sprintf("<%d>", leaf.Index)), nil
}

func (c concat) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	a, _ := left.Text("text")
	b, _ := right.Text("text")
	if c.leaky {
		*c.merges++
		a += fmt.Sprint(*c.merges)
	}
	return textOf(a + b), nil
}

func (concat) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	before, _ := state.Text("text")
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	now, err := root.Text("text")
	next := jobs.Next{Phase: "concat", State: textOf(before + now + ";")}
	next.Done = len(before) > 0
	return next, err
}

func textOf(s string) jobs.Arrays {
	a := jobs.Arrays{}
	a.PutText("text", s)
	return a
}

var fiveShards = [][]Record{{{Text: "a"}, {Text: "b"}}, {}, {{Text: "c"}}, {{Text: "d"}, {Text: "e"}, {Text: "f"}},
	{{Text: "g"}}}

func TestRunByHand(t *testing.T) {
	result, err := Run(t.Context(), concat{}, protocol.JobSpec{}, Shards(fiveShards, 2), nil, Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := result.Model.Text("text"); got != "abcdefg;<0>ab<1><2>c<3>def<4>g;" || result.Rounds != 2 {
		t.Errorf("%q after %d rounds", got, result.Rounds)
	}
}

func TestGroupingOfAPureAlgorithm(t *testing.T) {
	CheckGrouping(t, concat{}, protocol.JobSpec{}, fiveShards, nil)
}

// The check is worth something: an algorithm that remembers is found out by the order
// in which tasks run.
func TestGroupingShowsAnImpureAlgorithm(t *testing.T) {
	digests := map[string]bool{}
	always := func(int, protocol.Node) bool { return true }
	for _, grouping := range []Grouping{{}, {Cut: always}, {Cut: always, RightFirst: always}} {
		result, err := Run(t.Context(), concat{leaky: true, merges: new(int)}, protocol.JobSpec{},
			Shards(fiveShards, 1), nil, grouping)
		if err != nil {
			t.Fatal(err)
		}
		digests[Digest(result.Model)] = true
	}
	if len(digests) < 2 {
		t.Error("an impure algorithm gave the same model in every grouping")
	}
}

// Blocks are overwritten once the next is asked for, so that a phase that keeps a slice is found out.
func TestBlocksAreOverwritten(t *testing.T) {
	var kept []byte
	for block, err := range Shards([][]Record{{{Text: "first"}, {Text: "second"}}}, 1)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if kept == nil {
			kept = block.Texts[0]
		}
	}
	if string(kept) == "first" {
		t.Error("the first block survived the second")
	}
}
