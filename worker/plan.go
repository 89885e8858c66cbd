package worker

import (
	"context"

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
