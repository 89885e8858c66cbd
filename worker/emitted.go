package worker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// emittedMetric carries what a step emitted to the report task, which takes it out of the metrics.
const emittedMetric = "step.emitted"

// maxEmitted bounds how many emitted files are told as outputs; the coordinator takes 16 with the six of every job.
const maxEmitted = 10

// emitted are the files of a step by which a person finds all others: tables and indexes, not parts.
type emitted []jobs.File

// watch notes what is emitted; the calls follow each other.
func (e *emitted) watch(emit jobs.Emit) jobs.Emit {
	return func(ctx context.Context, name string, data []byte) (jobs.File, error) {
		file, err := emit(ctx, name, data)
		if err == nil && origin.IsListed(name) {
			e.add(file)
		}
		return file, err
	}
}

func (e *emitted) add(file jobs.File) {
	if !slices.Contains(*e, file) {
		*e = append(*e, file)
	}
}

// metrics are those of the step, and what it emitted.
func (e emitted) metrics(found []jobs.Metric) ([]jobs.Metric, error) {
	if len(e) == 0 {
		return found, nil
	}
	m, err := jobs.NewMetric(emittedMetric, e)
	return append(found, m), err
}

// takeEmitted parts what steps emitted from the other metrics.
func (r *runReport) takeEmitted() error {
	kept := r.Metrics[:0]
	for _, m := range r.Metrics {
		if m.Name != emittedMetric {
			kept = append(kept, m)
			continue
		}
		var files emitted
		if err := json.Unmarshal(m.Value, &files); err != nil {
			return fmt.Errorf("read what a step emitted: %w", err)
		}
		for _, file := range files {
			r.Files.add(file)
		}
	}
	r.Metrics = kept
	return nil
}

// outputs are the emitted files as outputs of the job.
func (o *output) outputs(ctx context.Context, files emitted) ([]*pb.OutputFile, error) {
	_, prefix, base, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	var outputs []*pb.OutputFile
	for _, file := range files[:min(len(files), maxEmitted)] {
		sum, err := hex.DecodeString(file.SHA256)
		if err != nil {
			return nil, fmt.Errorf("read what a step emitted: %w", err)
		}
		outputs = append(outputs, &pb.OutputFile{Name: file.Name, Uri: base + "/" + prefix + file.Name, Sha256: sum,
			Size: file.Size})
	}
	return outputs, nil
}
