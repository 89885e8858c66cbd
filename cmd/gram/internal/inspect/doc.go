// Package inspect looks at the records of a data set before anything is trained on them.
package inspect

import (
	"context"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

// Opened is a data set that can be read.
type Opened struct {
	Objects, Shards int
	Bytes           int64    // stored
	Names           []string // of the columns of its vectors; nil where they have none

	input    protocol.Input
	source   *dataset.Source
	manifest dataset.Manifest
	shards   []dataset.Shard
}

// Open lists a data set, as a job does. Errors are those of the plan of a job.
func Open(ctx context.Context, in protocol.Input) (*Opened, error) {
	store, name, err := dataset.OpenURI(ctx, in.URI, objects.OpenInput)
	if err != nil {
		return nil, err
	}
	o := &Opened{input: in}
	if o.manifest, o.shards, err = dataset.Plan(ctx, store, name, in); err != nil {
		return nil, err
	}
	o.Objects, o.Shards = len(o.manifest.Objects), len(o.shards)
	for _, object := range o.manifest.Objects {
		o.Bytes += object.Size
	}
	listed := dataset.Listed{Store: store, Name: name, Manifest: o.manifest, Input: in}
	if o.Names, err = listed.VectorNames(ctx); err != nil {
		return nil, err
	}
	o.source, err = dataset.NewSource(store, dataset.Prefix(name), o.manifest, in)
	return o, err
}

// blocks reads all records in the order of the manifest. More bad records than spec.input lets pass are a fault of the
// first that is one too many.
func (o *Opened) blocks(ctx context.Context) iter.Seq2[*dataset.Block, error] {
	return func(yield func(*dataset.Block, error) bool) {
		skipped := int64(0)
		for _, shard := range o.shards {
			for block, err := range o.source.Blocks(ctx, shard) {
				if err == nil {
					skipped += int64(len(block.Skipped))
					err = o.tooMany(skipped, block)
				}
				if !yield(block, err) || err != nil {
					return
				}
			}
		}
	}
}

func (o *Opened) tooMany(skipped int64, block *dataset.Block) error {
	most := o.input.OnBadRecord.SkipMax
	if skipped <= most {
		return nil
	}
	bad := block.Skipped[int64(len(block.Skipped))-(skipped-most)]
	return bad.ID.Fault("%s; it is bad record %d, and %d may pass", bad.Reason, most+1, most).At(bad.Line, bad.Column).
		WithHint(fmt.Sprintf("Mend the records, or let more pass with spec.input.on_bad_record.skip_max (%d).", most))
}
