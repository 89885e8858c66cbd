package knn

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// baseName names the phase that gathers the base into the model.
const baseName = "base"

// Arrays of a stored base: those of its form, each row beside its id.
const (
	baseIDs     = "base.ids"    // I64 [rows]
	baseTarget  = "base.target" // F64 [rows], of modes classify and regress
	baseDense   = "base.dense"  // F32 [rows, width]
	baseBits    = "base.bits"   // U64 [rows, words]
	baseIndptr  = "base.indptr" // I64 [rows+1], of sparse rows
	baseIndices = "base.indices"
	baseValues  = "base.values"
	baseTexts   = "base.texts" // strings, UTF-8
)

// basePhase gathers the base, projected where it is searched so.
type basePhase struct{ *plan }

func (p *basePhase) Name() string { return baseName }

// Map reads one leaf.
func (p *basePhase) Map(ctx context.Context, state jobs.Arrays, leaf jobs.Leaf, _ jobs.Arrays, ops *kernelops.Set) (jobs.Arrays, jobs.Arrays, error) {
	in, err := p.readIndex(state)
	if err != nil {
		return nil, nil, err
	}
	first, records, err := in.shard(leaf.Index)
	if err != nil {
		return nil, nil, err
	}
	all := &points{}
	gather := func(chunk *points) error {
		if in.dims > 0 {
			chunk = in.project(ops, chunk)
		}
		all.append(chunk)
		return p.fits(int64(all.weight()) * 4)
	}
	if err := in.newReader(first).readBase(leaf.Blocks(ctx), records, p.train(), gather); err != nil {
		return nil, nil, err
	}
	a := jobs.Arrays{}
	all.put(a)
	return a, nil, nil
}

// fits refuses a base that the model cannot hold.
func (p *plan) fits(size int64) error {
	if p.maxState == 0 || size <= int64(p.maxState) {
		return nil
	}
	return protocol.InputFault(protocol.CodeStateTooBig,
		"the base takes %d bytes or more in the model; max_state_bytes is %d", size, p.maxState).
		WithHint("Raise run.max_state_bytes, or leave params.store_base out: a search does not need it.")
}

// form says which arrays rows of a leaf have; an empty leaf has none of them yet.
func (p *basePhase) form(state jobs.Arrays) (points, error) {
	in, err := p.readIndex(state)
	if err != nil {
		return points{}, err
	}
	m := model{params: p.params, space: in.space, projected: in.projected}
	return m.storedForm(), nil
}

// Merge puts the rows of the right below those of the left.
func (p *basePhase) Merge(left, right jobs.Arrays) (jobs.Arrays, error) {
	if err := p.fits(left.EncodedSize() + right.EncodedSize()); err != nil {
		return nil, err
	}
	a, err := getAnyPoints(left)
	if err != nil {
		return nil, err
	}
	b, err := getAnyPoints(right)
	if err != nil {
		return nil, err
	}
	a.append(b)
	out := jobs.Arrays{}
	a.put(out)
	return out, nil
}

// Step makes the model.
func (p *basePhase) Step(ctx context.Context, state jobs.Arrays, round jobs.Round) (jobs.Next, error) {
	root, err := round.Only(ctx)
	if err != nil {
		return jobs.Next{}, err
	}
	form, err := p.form(state)
	if err != nil {
		return jobs.Next{}, err
	}
	m, err := newModel(p.plan, state)
	if err != nil {
		return jobs.Next{}, err
	}
	if m.base, err = getPoints(root, form); err != nil {
		return jobs.Next{}, err
	}
	return jobs.Next{Done: true, State: m.arrays()}, p.fits(root.EncodedSize())
}

// append puts the rows of q, of the same form, below those of p.
func (p *points) append(q *points) {
	if q.rows == 0 {
		return
	}
	if p.rows == 0 {
		p.width, p.words = q.width, q.words
		if q.sparse.indptr != nil {
			p.sparse.indptr = []int{0}
		}
	}
	p.rows += q.rows
	p.dense = append(slices.Clip(p.dense), q.dense...)
	p.bits = append(slices.Clip(p.bits), q.bits...)
	p.texts = append(p.texts, q.texts...)
	p.ids = append(slices.Clip(p.ids), q.ids...)
	p.target = append(slices.Clip(p.target), q.target...)
	if q.sparse.indptr == nil {
		return
	}
	shift := len(p.sparse.values)
	p.sparse.indices = append(slices.Clip(p.sparse.indices), q.sparse.indices...)
	p.sparse.values = append(slices.Clip(p.sparse.values), q.sparse.values...)
	for _, end := range q.sparse.indptr[1:] {
		p.sparse.indptr = append(p.sparse.indptr, shift+end)
	}
}
