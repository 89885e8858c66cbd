// Package estimate tells of a job what can be known before it runs: what it reads, in how many tasks, and how long that
// may take. Nothing is run, and nothing is left behind.
package estimate

import (
	"context"
	"slices"

	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
)

// Input is a data set of a job, listed and cut as the job's plan task would list and cut it.
type Input struct {
	DataSet string `json:"data_set"` // the field of the spec
	URI     string `json:"uri"`
	Format  string `json:"format"`

	Objects          int   `json:"objects"`
	Bytes            int64 `json:"bytes"`        // stored
	GzipObjects      int   `json:"gzip_objects"` // each is one piece, however large
	CompanionObjects int   `json:"companion_objects"`
	CompanionBytes   int64 `json:"companion_bytes"` // labels_uri and ids_uri

	ShardBytes   int64  `json:"shard_bytes"` // what a shard has at most, unless an object is one piece
	Shards       int    `json:"shards"`
	LargestShard int64  `json:"largest_shard_bytes"`
	OneShard     string `json:"one_shard,omitempty"` // why there is one only: "gzip", "shard_bytes" or "format"

	Records  Records  `json:"records"`
	Pass     Pass     `json:"pass"`
	Planning Requests `json:"planning_requests"` // of this estimate, but the samples
}

// Records is how many records a data set has, bad ones that are skipped left out.
type Records struct {
	Count          int64 `json:"count"`
	Exact          bool  `json:"exact"`
	SampledRecords int64 `json:"sampled_records"`
	SampledBytes   int64 `json:"sampled_bytes"` // stored
	SampledShards  int   `json:"sampled_shards"`
}

// Pass is what it takes to read all shards of a data set once.
type Pass struct {
	Bytes int64 `json:"bytes"`
	// Gets counts one GET for each piece of an object, and in formats of lines one for the end of the record that goes
	// on beyond a piece, of 64 KiB at most, which Bytes leaves out. A header takes one more, and so may a long record;
	// a piece that ends with a record takes one less.
	Gets int64 `json:"get_requests"`
}

// listed is a data set that can be read.
type listed struct {
	worker.Listed
	store *meter
	name  string
}

// list lists a data set and cuts it as the plan task of a job does.
func list(ctx context.Context, of jobs.Source, spec protocol.Input) (*listed, Input, error) {
	view := Input{DataSet: of.String(), URI: spec.URI, Format: spec.Format, ShardBytes: int64(spec.ShardBytes)}
	store, name, err := dataset.OpenURI(ctx, spec.URI, objects.OpenInput)
	if err != nil {
		return nil, view, err
	}
	l := &listed{Listed: worker.Listed{Spec: spec}, store: &meter{Store: store}, name: name}
	if l.Manifest, l.Shards, err = dataset.Plan(ctx, l.store, name, spec); err != nil {
		return nil, view, err
	}
	view.Planning = l.store.requests()
	view.Objects, view.Shards = len(l.Manifest.Objects), len(l.Shards)
	for _, o := range l.Manifest.Objects {
		view.Bytes += o.Size
		if dataset.IsGzip(o.Key, spec.Compression) {
			view.GzipObjects++
		}
	}
	for _, o := range slices.Concat(l.Manifest.Labels, l.Manifest.IDs) {
		view.CompanionObjects++
		view.CompanionBytes += o.Size
	}
	view.takeShards(l)
	view.Records, err = count(ctx, l)
	return l, view, err
}

// takeShards tells of the shards, and what it takes to read them.
func (v *Input) takeShards(l *listed) {
	companions := min(len(l.Manifest.Labels), 1) + min(len(l.Manifest.IDs), 1)
	for _, s := range l.Shards {
		size := int64(0)
		for _, p := range s.Pieces {
			size += p.End - p.Start
			v.Pass.Gets += int64(1 + companions)
			if !l.Manifest.Counted && p.End < l.Manifest.Objects[p.Object].Size {
				v.Pass.Gets++
			}
		}
		v.LargestShard = max(v.LargestShard, size)
		v.Pass.Bytes += size
	}
	v.Pass.Bytes += v.CompanionBytes
	if v.Shards == 1 {
		v.OneShard = v.whyOne()
	}
}

// Why a data set is one shard.
const (
	byGzip   = "gzip"        // a compressed object is not cut
	bySize   = "shard_bytes" // all of it fits
	byFormat = "format"      // nor is an object of the format
)

// whyOne says why a data set is one shard.
func (v *Input) whyOne() string {
	switch {
	case v.GzipObjects > 0 && (v.Objects == 1 || v.Bytes > v.ShardBytes):
		return byGzip
	case v.Bytes <= v.ShardBytes:
		return bySize
	}
	return byFormat
}
