package worker

import (
	"context"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// plan lists the data sets once, cuts shards, reads the model to begin from, and opens the
// first phase over the shards of the input.
func (j *job) plan(ctx context.Context) (*pb.TaskOutput, error) {
	if err := j.output.probe(ctx); err != nil {
		return nil, err
	}
	var all planned.Inputs
	for _, in := range j.inputs {
		manifest, shards, err := in.list(ctx)
		if err != nil {
			return nil, err
		}
		all.Manifests, all.Shards = append(all.Manifests, manifest), append(all.Shards, shards)
	}
	if err := j.compareVectors(ctx, all.Manifests); err != nil {
		return nil, err
	}
	state, model, err := j.firstModel(ctx)
	if err != nil {
		return nil, err
	}
	all.Model = model
	manifest, plan, err := all.Marshal()
	if err != nil {
		return nil, err
	}
	out := &pb.TaskOutput{Next: &pb.Next{Phase: j.tasks.First(), Trees: []uint32{uint32(len(all.Shards[jobs.Input]))}}}
	if out.Manifest, err = j.w.put(ctx, j.madeBy(0), manifest); err != nil {
		return nil, err
	}
	if out.Plan, err = j.w.put(ctx, j.madeBy(0), plan); err != nil {
		return nil, err
	}
	out.Next.State, err = j.w.putArrays(ctx, j.madeBy(0), state)
	return out, err
}

// compareVectors refuses queries whose header tells of other vectors than that of the input.
func (j *job) compareVectors(ctx context.Context, manifests []dataset.Manifest) error {
	if len(manifests) <= int(jobs.Queries) {
		return nil
	}
	listed := func(from jobs.Source) dataset.Listed {
		in := j.inputs[from]
		return dataset.Listed{Store: advancingStore{in.store}, Name: in.name, Manifest: manifests[from], Input: in.spec}
	}
	return dataset.CompareVectors(ctx, listed(jobs.Input), listed(jobs.Queries))
}
