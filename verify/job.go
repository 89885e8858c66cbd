package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// job is what is read of a job before anything is repeated.
type job struct {
	manifest   *proof.Manifest
	provenance provenance
	spec       protocol.JobSpec
	planned    planned.Inputs
	records    []*proof.Record
	tasks      *run.Tasks
	sources    []*dataset.Source // by jobs.Source
}

// provenance is what is compared of provenance.json.
type provenance struct {
	Job      string          `json:"job"`
	Spec     json.RawMessage `json:"spec"`
	SpecHash proof.Digest    `json:"spec_sha256"`
	Model    proof.File      `json:"model"`
	Manifest proof.File      `json:"manifest"`
	Plan     proof.File      `json:"plan"`
	Proof    *struct {
		Root     proof.Digest `json:"root"`
		Kept     string       `json:"kept"`
		Manifest proof.File   `json:"manifest"`
	} `json:"proof"`
}

// Names of files that the proof does not name.
const (
	provenanceFile = "provenance.json"
	modelFile      = "model.safetensors"
)

// shardText tells what bytes a leaf read, where its number is that of a shard of the input.
func (j *job) shardText(index int) string {
	shards := j.planned.Shards[jobs.Input]
	if index >= len(shards) {
		return ""
	}
	p := shards[index].Pieces[0]
	text := fmt.Sprintf(" (bytes %d to %d of %s", p.Start, p.End, j.planned.Manifests[jobs.Input].Objects[p.Object].Key)
	if more := len(shards[index].Pieces) - 1; more > 0 {
		text += fmt.Sprintf(" and %d objects more", more)
	}
	return text + ")"
}

// plan is the cut of the data sets.
func (j *job) plan() jobs.Plan {
	p := jobs.Plan{Shards: len(j.planned.Shards[jobs.Input])}
	if len(j.planned.Shards) > int(jobs.Queries) {
		p.QueryShards = len(j.planned.Shards[jobs.Queries])
	}
	return p
}

// read reads a shard, as jobs.BlockReader says.
func (j *job) read(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	return j.sources[from].Blocks(ctx, j.planned.Shards[from][shard])
}

// next is what the step of a round made, as the job says: the state of the round after it, or the model.
func (j *job) next(at int) (digest proof.Digest, isModel bool) {
	if at+1 < len(j.records) {
		return j.records[at+1].State, false
	}
	return j.manifest.Model.SHA256, true
}

// openInputs opens the data sets and the kind.
func (v *verifier) openInputs(ctx context.Context) error {
	kind, err := v.Kind(v.job.spec.Kind)
	if err != nil {
		v.missing("the kind %s: %v", v.job.spec.Kind, err)
		return errMissing
	}
	algorithm, err := kind.New(v.job.spec)
	if err != nil {
		return falseFile(proof.SpecFile, "this release makes no job of it: %v", err)
	}
	if v.job.tasks, err = run.NewTasks(algorithm, v.job.spec, v.Ops); err != nil {
		return err
	}
	inputs := []protocol.Input{jobs.Input: v.job.spec.Spec.Input}
	if q := v.job.spec.Spec.Queries; q != nil {
		inputs = append(inputs, *q)
	}
	for i, in := range inputs {
		if err := v.openSource(ctx, i, in); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) openSource(ctx context.Context, i int, in protocol.Input) error {
	manifest := v.job.planned.Manifests[i]
	shards, err := dataset.CutAsPlanned(manifest, in)
	if err != nil {
		return falseFile(proof.InputFile, "%s cannot be cut: %v", jobs.Source(i), err)
	}
	if again, err := dataset.MarshalPlan(manifest, shards); err != nil {
		return err
	} else if said, err := dataset.MarshalPlan(manifest, v.job.planned.Shards[i]); err != nil || string(said) != string(again) {
		return falseFile(proof.PlanFile, "the shards of %s are not those that follow from its objects", jobs.Source(i))
	}
	storeURI, name, err := objstore.SplitObjectURI(in.URI)
	if err != nil {
		return dataset.StoreFault(in.URI, err)
	}
	store, err := v.OpenInput(ctx, storeURI)
	if err != nil {
		v.missing("%s: %s cannot be opened: %v", jobs.Source(i), in.URI, err)
		return errMissing
	}
	source, err := dataset.NewSource(store, dataset.Prefix(name), manifest, in)
	if err != nil {
		return err
	}
	v.job.sources = append(v.job.sources, source)
	return nil
}

// absent reports whether an error of repeating says that something cannot be read any more.
func absent(err error) bool {
	var fault *protocol.Fault
	if !errors.As(err, &fault) {
		return errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrDenied)
	}
	switch fault.Code {
	case protocol.CodeInputChanged, protocol.CodeInputDamaged, protocol.CodeStore, protocol.CodeStoreDenied:
		return true
	}
	return fault.Class == protocol.ClassInfrastructure
}
