package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// repeatKept repeats the merges and steps of rounds whose partials are kept, save those that were repeated as a whole.
func (v *verifier) repeatKept(ctx context.Context, whole []bool) error {
	for at, record := range v.job.records {
		v.result.Steps.Of++
		for _, leaves := range record.Trees {
			v.result.Merges.Of += int(leaves) - 1
		}
		if whole[at] || v.job.manifest.Kept != proof.Full {
			continue
		}
		v.Progress("merges", at, len(v.job.records))
		if err := v.repeatMerges(ctx, at, record); err != nil {
			return err
		}
	}
	return nil
}

// repeatMerges repeats each merge of a round from the partials of its children, and the step from the roots.
func (v *verifier) repeatMerges(ctx context.Context, at int, record *proof.Record) error {
	roots := make([]jobs.Arrays, len(record.Trees))
	for tree, n := range record.Trees {
		t := protocol.Tree(n)
		for node := range proof.PostOrder(t) {
			if node.Level == 0 {
				continue
			}
			if err := v.repeatMerge(ctx, record, tree, node); err != nil {
				return err
			}
		}
		root, err := v.partial(ctx, record.Node(tree, t.Canonical(t.Root())))
		if err != nil {
			return err
		}
		roots[tree] = root
	}
	state, err := v.stateOf(ctx, at)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if root == nil || state == nil {
			return nil // noted as missing
		}
	}
	_, err = v.repeatStep(ctx, at, state, jobs.RoundOf(v.job.plan(), roots...))
	if absent(err) {
		v.missing("the step of round %d: %v", record.Round, err)
		return nil
	}
	return err
}

// partial reads a kept partial, whose digest was compared before; nil where it is missing.
func (v *verifier) partial(ctx context.Context, d proof.Digest) (jobs.Arrays, error) {
	data, err := v.file(ctx, proof.PartialFile(d), proof.File{SHA256: d, Size: anySize}, "a record")
	if err != nil || data == nil {
		return nil, err
	}
	v.result.Files--
	return jobs.Decode(data)
}

func (v *verifier) repeatMerge(ctx context.Context, record *proof.Record, tree int, node protocol.Node) error {
	t := protocol.Tree(record.Trees[tree])
	left, right, _ := t.Children(node)
	children := map[protocol.Node]jobs.Arrays{}
	for _, child := range []protocol.Node{left, right} {
		partial, err := v.partial(ctx, record.Node(tree, child))
		if err != nil || partial == nil {
			return err
		}
		children[child] = partial
	}
	merged, err := v.job.tasks.Fold(ctx, record.Phase, t, node, run.FoldSource{
		Made: func(_ context.Context, n protocol.Node) (jobs.Arrays, [32]byte, error) {
			return children[n], record.Node(tree, n), nil
		},
	})
	if err != nil {
		return v.atNode(record, tree, node, "repeating it fails: "+err.Error())
	}
	v.result.Merges.Repeated++
	if got := proof.Digest(merged.Digest()); got != record.Node(tree, node) {
		return v.falseNode(record, tree, node, got)
	}
	return nil
}

// emitted returns what takes the files of a task that is repeated, and compares them with those beside the model.
func (v *verifier) emitted(by string) jobs.Emit {
	return func(ctx context.Context, name string, data []byte) (jobs.File, error) {
		file := jobs.File{Name: name, SHA256: proof.DigestOf(data).String(), Size: int64(len(data))}
		there, err := v.Read(ctx, name)
		if err != nil {
			return file, err
		}
		if got := proof.DigestOf(there).String(); got != file.SHA256 {
			return file, &Falsehood{What: by, Says: fmt.Sprintf("it makes the file %s of digest %s, and beside the model "+
				"is one of digest %s", name, file.SHA256, got)}
		}
		return file, nil
	}
}

// conclude says what follows.
func (r *Result) conclude() {
	r.Verdict = Verified
	switch {
	case r.False != nil:
		r.Verdict = False
		r.Claim = "The job is not what it says it is: " + r.False.What + "."
		return
	case len(r.Missing) > 0:
		r.Verdict = Incomplete
	}
	r.Claim = strings.Join(r.claims(), " ")
}
