package verify

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// leaf is a leaf of a round.
type leaf struct{ at, tree, index int }

func compareDraws(a, b uint64, i, j int) int { return cmp.Or(cmp.Compare(a, b), cmp.Compare(i, j)) }

// drawLeaves draws the leaves to repeat: those with the smallest of the numbers that the draw gives to all leaves of
// rounds whose state is known; all where there are no more.
func (v *verifier) drawLeaves(known []bool) []leaf {
	type drawn struct {
		leaf
		number uint64
	}
	var all []drawn
	key, n := philox.New(v.Draw, "verify/leaves"), uint64(0)
	for at, record := range v.job.records {
		for tree, leaves := range record.Trees {
			for index := range int(leaves) {
				if n++; known[at] {
					all = append(all, drawn{leaf{at, tree, index}, key.Uint64(n, 0)})
				}
			}
		}
	}
	v.result.Leaves.Of, v.result.Drawn = int(n), Count{min(v.Sample, len(all)), len(all)}
	// total order: of two equal numbers the earlier leaf comes first
	slices.SortStableFunc(all, func(a, b drawn) int { return cmp.Compare(a.number, b.number) })
	var chosen []leaf
	for _, d := range all[:min(v.Sample, len(all))] {
		chosen = append(chosen, d.leaf)
	}
	return chosen
}

// chain is a leaf through rounds that pass something on: first to last, and which of them are to be compared.
type chain struct {
	first, last int
	leaf
}

// chainsOf orders leaves by where they begin. Of one that is drawn in several rounds of a row, the last repeats all.
func (v *verifier) chainsOf(leaves []leaf) []chain {
	last := map[leaf]int{} // by first round, tree and index
	for _, l := range leaves {
		key := leaf{v.firstOf(l.at), l.tree, l.index}
		last[key] = max(last[key], l.at)
	}
	var chains []chain
	for key, at := range last { //lint:ordered sorted below
		chains = append(chains, chain{key.at, at, key})
	}
	// total order: the keys differ
	slices.SortFunc(chains, func(a, b chain) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tree, b.tree), cmp.Compare(a.index, b.index))
	})
	return chains
}

// repeatLeaves repeats a sample of leaves, some at a time.
func (v *verifier) repeatLeaves(ctx context.Context, whole []bool) error {
	var left []leaf
	for _, l := range v.drawLeaves(v.known(whole)) {
		if !whole[l.at] { // else it was repeated with its round
			left = append(left, l)
		}
	}
	chains := v.chainsOf(left)
	states := &stateCache{v: v, held: map[int]jobs.Arrays{}}
	work := make(chan chain)
	var first firstFalse
	var group sync.WaitGroup
	for range min(v.Slots, len(chains)) {
		group.Go(func() {
			for c := range work {
				first.note(v.repeatChain(ctx, c, states, &first))
			}
		})
	}
	for i, c := range chains {
		v.Progress("leaves", i, len(chains))
		work <- c
	}
	close(work)
	group.Wait()
	v.result.Leaves.Repeated += first.repeated
	v.result.Missing = append(v.result.Missing, first.missing...)
	return first.err()
}

// repeatChain repeats a leaf through its rounds and compares each digest.
func (v *verifier) repeatChain(ctx context.Context, c chain, states *stateCache, first *firstFalse) error {
	var carry jobs.Arrays
	for at := c.first; at <= c.last; at++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := states.of(ctx, at)
		if err != nil {
			return err
		}
		if state == nil {
			first.lacks("the state of a round was there, and is gone")
			return nil
		}
		partial, carried, err := v.mapLeaf(ctx, v.job.records[at], state, c.tree, c.index, carry)
		if absent(err) {
			first.lacks(v.atNode(v.job.records[at], c.tree, protocol.Node{Index: c.index}, err.Error()).Error())
			return nil
		}
		if err != nil {
			return err
		}
		first.did()
		carry = carried
		node := protocol.Node{Index: c.index}
		if got := proof.Digest(partial.Digest()); got != v.job.records[at].Node(c.tree, node) {
			return v.falseNode(v.job.records[at], c.tree, node, got)
		}
	}
	return nil
}

// mapLeaf repeats one leaf.
func (v *verifier) mapLeaf(
	ctx context.Context, record *proof.Record, state jobs.Arrays, tree, index int, carry jobs.Arrays,
) (partial, carried jobs.Arrays, err error) {
	at := v.atNode(record, tree, protocol.Node{Index: index}, "")
	partial, carried, err = v.job.tasks.Map(ctx, record.Phase, state, jobs.Leaf{Tree: tree, Index: index,
		Plan: v.job.plan(), Read: v.job.read, Emit: v.emitted(at.What)}, carry)
	if err == nil || absent(err) || errors.Is(err, context.Canceled) {
		return partial, carried, err
	}
	if found, ok := errors.AsType[*Falsehood](err); ok {
		at.What, at.Says = found.What, found.Says
	} else {
		at.Says = "repeating it fails: " + err.Error()
	}
	return nil, nil, at
}

// stateCache holds the decoded states of the rounds at work.
type stateCache struct {
	v    *verifier
	mu   sync.Mutex
	held map[int]jobs.Arrays
}

// maxHeldStates bounds how many states are held at a time.
const maxHeldStates = 16

func (c *stateCache) of(ctx context.Context, at int) (jobs.Arrays, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state, ok := c.held[at]; ok {
		return state, nil
	}
	state, err := c.v.stateOf(ctx, at)
	if err != nil || state == nil {
		return nil, err
	}
	if len(c.held) >= maxHeldStates {
		clear(c.held)
	}
	c.held[at] = state
	return state, nil
}

// firstFalse gathers what goroutines find.
type firstFalse struct {
	mu       sync.Mutex
	found    *Falsehood
	failure  error
	repeated int
	missing  []string
}

// maxMissing bounds how many leaves are listed that could not be repeated.
const maxMissing = 20

func (f *firstFalse) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if found, ok := errors.AsType[*Falsehood](err); !ok {
		f.failure = cmp.Or(f.failure, err)
	} else if found.before(f.found) {
		f.found = found
	}
}

func (f *firstFalse) did() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repeated++
}

func (f *firstFalse) lacks(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.missing) < maxMissing {
		f.missing = append(f.missing, text)
	}
}

func (f *firstFalse) err() error {
	if f.found != nil {
		return f.found
	}
	return f.failure
}
