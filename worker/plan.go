package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// plan lists the data sets once, cuts shards, reads the model to begin from, and opens the
// first phase over the shards of the input.
func (j *job) plan(ctx context.Context) (*pb.TaskOutput, error) {
	if err := j.probeOutput(ctx); err != nil {
		return nil, err
	}
	var all planned
	for _, in := range j.inputs {
		manifest, shards, err := in.list(ctx)
		if err != nil {
			return nil, err
		}
		all.manifests, all.shards = append(all.manifests, manifest), append(all.shards, shards)
	}
	state, model, err := j.firstModel(ctx)
	if err != nil {
		return nil, err
	}
	all.model = model
	manifest, plan, err := all.marshal()
	if err != nil {
		return nil, err
	}
	out := &pb.TaskOutput{Next: &pb.Next{Phase: j.tasks.First(), Trees: []uint32{uint32(len(all.shards[jobs.Input]))}}}
	if out.Manifest, err = j.w.put(ctx, j.madeBy(0), manifest); err != nil {
		return nil, err
	}
	if out.Plan, err = j.w.put(ctx, j.madeBy(0), plan); err != nil {
		return nil, err
	}
	out.Next.State, err = j.w.putArrays(ctx, j.madeBy(0), state)
	return out, err
}

// storedManifest is a job's manifest object: what it reads, pinned.
type storedManifest struct {
	Input   json.RawMessage `json:"input"` // as package dataset writes it
	Queries json.RawMessage `json:"queries,omitempty"`
	Model   *pinnedModel    `json:"model,omitempty"`
}

// storedPlan is a job's plan object: the shards of each data set.
type storedPlan struct {
	Input   json.RawMessage `json:"input"`
	Queries json.RawMessage `json:"queries,omitempty"`
}

// planned is what a job's manifest and plan say.
type planned struct {
	manifests []dataset.Manifest // by jobs.Source
	shards    [][]dataset.Shard
	model     *pinnedModel
}

// marshal writes the manifest and the plan, the same bytes for the same ones.
func (p planned) marshal() (manifest, plan []byte, err error) {
	var manifests, plans [2]json.RawMessage
	for i, m := range p.manifests {
		if manifests[i], err = dataset.MarshalManifest(m); err != nil {
			return nil, nil, err
		}
		if plans[i], err = dataset.MarshalPlan(m, p.shards[i]); err != nil {
			return nil, nil, err
		}
	}
	manifest, err = json.Marshal(storedManifest{Input: manifests[jobs.Input], Queries: manifests[jobs.Queries],
		Model: p.model})
	if err != nil {
		return nil, nil, fmt.Errorf("encode the manifest: %w", err)
	}
	if plan, err = json.Marshal(storedPlan{plans[jobs.Input], plans[jobs.Queries]}); err != nil {
		return nil, nil, fmt.Errorf("encode the plan: %w", err)
	}
	return manifest, plan, nil
}

// unmarshalPlans reads what planned.marshal wrote for a spec with a number of data sets, and with or
// without a model, strictly, and compares them with each other.
func unmarshalPlans(manifest, plan []byte, inputs int, withModel bool) (planned, error) {
	var m storedManifest
	var p storedPlan
	if err := dataset.DecodeStored(manifest, inputs*dataset.MaxManifestBytes+1<<20, &m); err != nil {
		return planned{}, dataset.StoredFault("manifest", err)
	}
	if err := dataset.DecodeStored(plan, inputs*dataset.MaxPlanBytes+1<<20, &p); err != nil {
		return planned{}, dataset.StoredFault("plan", err)
	}
	hasQueries := inputs > int(jobs.Queries)
	if (m.Queries != nil) != hasQueries || (p.Queries != nil) != hasQueries || (m.Model != nil) != withModel {
		return planned{}, dataset.StoredFault("manifest", errors.New("it lists other inputs than the spec"))
	}
	if m.Model != nil {
		if err := m.Model.check(); err != nil {
			return planned{}, dataset.StoredFault("manifest", err)
		}
	}
	all := planned{model: m.Model}
	manifests, plans := []json.RawMessage{m.Input, m.Queries}, []json.RawMessage{p.Input, p.Queries}
	for i := range inputs {
		manifest, err := dataset.UnmarshalManifest(manifests[i])
		if err != nil {
			return planned{}, err
		}
		shards, err := dataset.UnmarshalPlan(plans[i], manifest)
		if err != nil {
			return planned{}, err
		}
		all.manifests, all.shards = append(all.manifests, manifest), append(all.shards, shards)
	}
	return all, nil
}
