package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

// input is one data set of the job.
type input struct {
	spec     protocol.Input
	manifest dataset.Manifest
	shards   []dataset.Shard
	source   *dataset.Source
	unread   error // why it cannot be read at all
}

// openPlan reads what was planned, and cuts the input again.
func (v *verifier) openPlan(ctx context.Context) error {
	manifest, err := v.readFile(ctx, proof.InputFile, v.manifest.Input, maxPlanBytes)
	if err != nil {
		return err
	}
	plan, err := v.readFile(ctx, proof.PlanFile, v.manifest.Plan, maxPlanBytes)
	if manifest == nil || plan == nil || err != nil || v.spec.Kind == "" {
		return err
	}
	specs := jobs.DataSets(v.spec.Spec)
	p, err := planned.Unmarshal(manifest, plan, len(specs), v.spec.Spec.Model != "")
	if err != nil {
		return v.contradicts(proof.PlanFile, err)
	}
	for i, s := range specs {
		shards, err := dataset.Shards(p.Manifests[i], s)
		if err != nil || !reflect.DeepEqual(shards, p.Shards[i]) {
			return v.contradicts(proof.PlanFile, fmt.Errorf("%s is not cut as the spec says", jobs.Source(i)))
		}
		if p.Manifests[i].URI != s.URI {
			return v.contradicts(proof.InputFile, fmt.Errorf("%s is not the one of the spec", jobs.Source(i)))
		}
	}
	if p.Model != nil && p.Model.URI != v.spec.Spec.Model {
		return v.contradicts(proof.InputFile, errors.New("the model is not the one of the spec"))
	}
	v.planned = p
	return nil
}

// openInputs opens the data sets, and checks that their objects are still those that were read.
func (v *verifier) openInputs(ctx context.Context) error {
	if v.planned.Manifests == nil {
		return nil
	}
	total := int64(0)
	for _, m := range v.planned.Manifests {
		total += int64(len(m.Objects) + len(m.Labels) + len(m.IDs))
	}
	v.stage("input", "objects", total)
	for i, s := range jobs.DataSets(v.spec.Spec) {
		in := &input{spec: s, manifest: v.planned.Manifests[i], shards: v.planned.Shards[i]}
		v.inputs = append(v.inputs, in)
		store, name, err := dataset.OpenURI(ctx, s.URI, v.cfg.OpenInput)
		if err == nil {
			in.source, err = dataset.NewSource(store, dataset.Prefix(name), in.manifest, s)
		}
		if err == nil {
			in.source.ReadBy(v.cfg.Ops.Decimals)
		}
		if ended(err) {
			return err
		}
		if in.unread = err; err != nil {
			v.noteMissing(inputMissing(s.URI, err))
			continue
		}
		if err := v.checkAllPinned(ctx, store, in); err != nil {
			return err
		}
	}
	return nil
}

// checkAllPinned compares the objects of a data set with those that were planned: the records, and the labels and ids,
// which are in the same store.
func (v *verifier) checkAllPinned(ctx context.Context, store objstore.Store, in *input) error {
	for _, list := range []struct {
		uri     string
		objects []dataset.Object
	}{{in.spec.URI, in.manifest.Objects}, {in.spec.LabelsURI, in.manifest.Labels}, {in.spec.IDsURI, in.manifest.IDs}} {
		if list.uri == "" {
			continue
		}
		_, name, err := objstore.SplitObjectURI(list.uri)
		if err != nil {
			return err // NewSource has read it
		}
		if err := v.checkPinned(ctx, store, dataset.Prefix(name), list.objects); err != nil {
			return err
		}
	}
	return nil
}

// checkPinned compares the sizes and ETags of objects with those that were planned.
func (v *verifier) checkPinned(
	ctx context.Context, store objstore.Store, prefix string, objects []dataset.Object,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, o := range objects {
		group.Go(func() error {
			defer v.advance()
			info, err := store.Stat(ctx, prefix+o.Key)
			if err == nil && (info.ETag != o.ETag || info.Size != o.Size) {
				err = fmt.Errorf("%w: it has %d bytes and the ETag %s; %d and %s were planned", objstore.ErrChanged,
					info.Size, info.ETag, o.Size, o.ETag)
			}
			if err = dataset.StoreFault(o.Key, err); err == nil || ended(err) {
				return err
			}
			v.noteMissing(inputMissing(o.Key, err))
			return nil
		})
	}
	return group.Wait()
}

// cut returns the number of shards of each data set.
func (v *verifier) cut() jobs.Plan {
	plan := jobs.Plan{Shards: len(v.inputs[jobs.Input].shards)}
	if len(v.inputs) > int(jobs.Queries) {
		plan.QueryShards = len(v.inputs[jobs.Queries].shards)
	}
	return plan
}

// readShard reads a shard of a data set; run.Tasks has checked both.
func (v *verifier) readShard(ctx context.Context, from jobs.Source, shard int) iter.Seq2[*dataset.Block, error] {
	in := v.inputs[from]
	if in.unread != nil {
		return func(yield func(*dataset.Block, error) bool) { yield(nil, in.unread) }
	}
	return in.source.Blocks(ctx, in.shards[shard])
}

// text names a shard by the objects and bytes that it covers, as they are stored.
func (in *input) text(shard int) string {
	pieces := in.shards[shard].Pieces
	if len(pieces) == 0 {
		return "no bytes"
	}
	first := pieces[0]
	text := fmt.Sprintf("bytes %d-%d of %s", first.Start, first.End, in.manifest.Objects[first.Object].Key)
	if more := len(pieces) - 1; more > 0 {
		text += fmt.Sprintf(" and %d pieces more", more)
	}
	return text
}

// firstState returns the state that the plan made: the model that the job begins from, or no arrays. Nil means that the
// model is missing, which is noted.
func (v *verifier) firstState(ctx context.Context) (jobs.Arrays, error) {
	uri := v.spec.Spec.Model
	if uri == "" {
		return jobs.Arrays{}, nil
	}
	missing := func(err error) error {
		if ended(err) {
			return err
		}
		f := inputMissing(uri, err)
		f.Says = "The model that the job begins from: " + f.Says
		v.noteMissing(f)
		return nil
	}
	store, name, err := dataset.OpenURI(ctx, uri, v.cfg.OpenInput)
	if err != nil {
		return nil, missing(err)
	}
	data, _, err := objstore.ReadAll(ctx, store, name, objstore.GetOptions{}, int64(v.spec.Spec.Run.MaxStateBytes))
	if err != nil {
		return nil, missing(dataset.StoreFault(uri, err))
	}
	if got := planned.PinModel(uri, data); *got != *v.planned.Model {
		return nil, missing(fmt.Errorf("%s is not the object that was read: it has the SHA-256 %s, and %s was planned",
			uri, got.SHA256, v.planned.Model.SHA256))
	}
	state, err := jobs.Decode(data)
	if err != nil {
		return nil, v.contradicts(proof.InputFile, err)
	}
	return state, nil
}
