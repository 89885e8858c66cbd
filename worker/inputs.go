package worker

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// input is one data set of a job. Its manifest, shards and source are there once the job is planned.
type input struct {
	spec     protocol.Input
	store    objstore.Store
	name     string // within its store
	far      bool   // the store is across a network
	ops      *kernelops.Set
	manifest dataset.Manifest
	shards   []dataset.Shard
	source   *dataset.Source
}

// openInputs opens the stores of a spec's data sets, by jobs.Source.
func (w *worker) openInputs(ctx context.Context, spec protocol.Spec) ([]*input, error) {
	specs := jobs.DataSets(spec)
	inputs := make([]*input, len(specs))
	for i, s := range specs {
		store, name, err := dataset.OpenURI(ctx, s.URI, w.cfg.OpenInput)
		if err != nil {
			return nil, err
		}
		inputs[i] = &input{spec: s, store: store, name: name, far: far(s.URI), ops: w.cfg.Ops}
	}
	return inputs, nil
}

// list lists the data set once and cuts its shards.
func (in *input) list(ctx context.Context) (dataset.Manifest, []dataset.Shard, error) {
	return dataset.Plan(ctx, advancingStore{in.store}, in.name, in.spec)
}

// ready makes the data set readable as it was planned.
func (in *input) ready(manifest dataset.Manifest, shards []dataset.Shard) (err error) {
	in.manifest, in.shards = manifest, shards
	if in.source, err = dataset.NewSource(in.store, dataset.Prefix(in.name), manifest, in.spec); err == nil {
		in.source.ReadBy(in.ops.Decimals)
	}
	return err
}

// read reads a shard of a data set; run.Tasks has checked both against the plan. Of one that is a phase that passes
// over its records no copies are kept.
func (j *job) read(ctx context.Context, phase string, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	in, through := j.inputs[from], j.w.cache.blocks
	if j.tasks.Passes(phase) {
		through = j.w.cache.passing
	}
	return advancing(ctx, through(ctx, setKey{j.cached(), from}, shard, in.source.Blocks(ctx, in.shards[shard])))
}

// cut is how many shards each data set has.
func (j *job) cut() jobs.Plan {
	plan := jobs.Plan{Shards: len(j.inputs[jobs.Input].shards)}
	if len(j.inputs) > int(jobs.Queries) {
		plan.QueryShards = len(j.inputs[jobs.Queries].shards)
	}
	return plan
}

// firstModel reads the model that the spec begins from.
func (j *job) firstModel(ctx context.Context) (jobs.Arrays, *planned.Model, error) {
	uri := j.spec.Spec.Model
	if uri == "" {
		return jobs.Arrays{}, nil, nil
	}
	store, name, err := dataset.OpenURI(ctx, uri, j.w.cfg.OpenInput)
	if err != nil {
		return nil, nil, err
	}
	data, err := readModel(ctx, store, uri, name, int64(j.spec.Spec.Run.MaxStateBytes))
	if err != nil {
		return nil, nil, err
	}
	if want := j.spec.Spec.ModelSHA256; want != "" && planned.PinModel(uri, data).SHA256 != want {
		return nil, nil, modelFault(protocol.CodeInputChanged, uri, "its SHA-256 is not "+want+
			", which the spec asks for", "Submit the job again with the model that is there now.")
	}
	model, err := jobs.Decode(data)
	if err == nil {
		_, _, err = model.Kind()
	}
	if err != nil {
		return nil, nil, modelFault(protocol.CodeCorrupt, uri, fmt.Sprintf("the object is not a model: %v", err),
			"spec.model names the model.safetensors of a job")
	}
	if err := j.kind.CheckModel(model); err != nil {
		return nil, nil, ofModel(uri, err)
	}
	return model, planned.PinModel(uri, data), nil
}

// A worker's memory is this many times what its slots fetch ahead of their work.
const aheadShare = 16

// far reports whether a data set's store is across a network: of files, the kernel reads ahead.
func far(uri string) bool { return strings.HasPrefix(uri, "s3://") }

// fetchNext begins to fetch the shard after the one that the task is about to read, where the task has another leaf and
// the shard is not in memory. A leaf that reads other shards finds nothing, and what is fetched ends with the task.
func (n *nodeTask) fetchNext(ctx context.Context, from jobs.Source, shard int) {
	in, next := n.job.inputs[from], shard+1
	if !in.far || !n.hasLeafAfter(n.at.leaf) || next >= len(in.shards) {
		return
	}
	w := n.job.w
	if w.cache != nil {
		if kept, _ := w.cache.has(setKey{n.job.cached(), from}, next); kept {
			return
		}
	}
	ctx, drop := context.WithCancel(ctx)
	if n.fetched = append(n.fetched, drop); len(n.fetched) > aheadMost {
		n.fetched[0]() // ends it, unless its shard is being read or has been
		n.fetched = n.fetched[1:]
	}
	in.source.Ahead(ctx, in.shards[next], w.aheadRoom())
}

// aheadMost is how many shards a task has fetched that it has not read: it may read others than the next.
const aheadMost = 2

// hasLeafAfter reports whether the task has a leaf after the one at index.
func (n *nodeTask) hasLeafAfter(index int) bool {
	id := n.task.GetId()
	end := (uint64(id.GetIndex()) + 1) << id.GetLevel()
	return uint64(index)+1 < min(end, uint64(n.task.GetTreeLeaves()))
}

// aheadRoom is how many bytes one task may fetch ahead.
func (w *worker) aheadRoom() int64 {
	return w.cfg.Memory / aheadShare / int64(max(w.cfg.Slots, 1))
}

// ahead passes blocks on, and begins to fetch the next shard once the first of them is there.
func (n *nodeTask) ahead(
	ctx context.Context, from jobs.Source, shard int, blocks iter.Seq2[*dataset.Block, error],
) iter.Seq2[*dataset.Block, error] {
	if !n.job.inputs[from].far {
		return blocks
	}
	return func(yield func(*dataset.Block, error) bool) {
		begun := false
		for block, err := range blocks {
			if !begun && err == nil {
				begun = true
				n.fetchNext(ctx, from, shard)
			}
			if !yield(block, err) {
				return
			}
		}
	}
}
