package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/compare"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What one comparison reads of what jobs left, per file. A leader holds two models, and its record of the cluster.
const (
	maxComparedModel = 32 << 20
	maxComparedFile  = 8 << 20
)

// difference compares what both jobs left; nil where that is not compared.
func (s *Compares) difference(ctx context.Context, pair [2]*state.Job, gaps *gaps) *compare.Difference {
	a, b := pair[0], pair[1]
	const what = "the numbers of the models, and the first node that differs"
	hint := fmt.Sprintf("`gram diff %s %s` compares them.", a.ID, b.ID)
	for _, job := range pair {
		switch {
		case !job.HasModel():
			gaps.add("the models", fmt.Sprintf("job %s has left no model: it %s", job.ID, standing(job)), "")
			return nil
		case job.Model.Size > maxComparedModel:
			gaps.add(what, fmt.Sprintf("the model of %s has %d bytes; a coordinator reads at most %d", job.ID,
				job.Model.Size, maxComparedModel), hint)
			return nil
		case !leftHere(job):
			gaps.add(what, fmt.Sprintf("job %s left its files in a store that coordinators do not read (spec.output.uri)",
				job.ID), hint)
			return nil
		}
	}
	if a.Model.SHA256 == b.Model.SHA256 {
		return nil // to the bit
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		gaps.add(what, "other comparisons are at work: "+context.Cause(ctx).Error(), hint)
		return nil
	}
	d, err := compare.Jobs(ctx, s.folder(a), s.folder(b))
	if err != nil {
		why, bounded := whyUnread(ctx, err)
		if !bounded {
			hint = fmt.Sprintf("`gram verify %s` and `gram verify %s` look at all files.", a.ID, b.ID)
		}
		gaps.add(what, why, hint)
		return nil
	}
	return d
}

func standing(job *state.Job) string {
	if !job.Ended() {
		return "has not ended"
	}
	if job.Stage == pb.JobState_JOB_STATE_SUCCEEDED {
		return "has succeeded without one"
	}
	return "did not succeed"
}

// whyUnread says why a file could not be read, and whether it was for a bound of this comparison.
func whyUnread(ctx context.Context, err error) (why string, bounded bool) {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx).Error(), true
	case errors.Is(err, objstore.ErrNotFound):
		return fmt.Sprintf("a file is not in the store any more: %v", err), false
	case errors.Is(err, objstore.ErrTooLarge):
		return fmt.Sprintf("a file has more bytes than a coordinator reads: %v", err), true
	}
	return err.Error(), false
}

// leftHere reports whether a job leaves its files in the cluster's own store.
func leftHere(job *state.Job) bool {
	var spec struct {
		Spec struct {
			Output struct{ URI string }
		}
	}
	return json.Unmarshal(job.SpecJSON, &spec) == nil && spec.Spec.Output.URI == ""
}

var errOtherFile = errors.New("its bytes are not those that the job left; `gram verify` tells more")

// folder is what a job left in the cluster's own store. What the log names must have its digest.
func (s *Compares) folder(job *state.Job) compare.Folder {
	digests := map[string][32]byte{}
	for _, o := range job.Outputs {
		digests[o.Name] = o.Ref.SHA256
	}
	return compare.Folder{Name: job.ID, Read: func(ctx context.Context, name string) ([]byte, error) {
		most := int64(maxComparedFile)
		if name == protocol.ModelFile {
			most = maxComparedModel
		}
		key := protocol.OutputPrefix(job.ID) + name
		data, _, err := objstore.ReadAll(ctx, s.store, key, objstore.GetOptions{}, most)
		if err != nil {
			return nil, err
		}
		if want, ok := digests[name]; ok && sha256.Sum256(data) != want {
			return nil, &compare.Damaged{Folder: job.ID, File: name, Err: errOtherFile}
		}
		return data, nil
	}}
}
