package compare

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/worker"
)

// Folder reads a file that a job left, by its name below the folder of its outputs.
type Folder func(ctx context.Context, name string) ([]byte, error)

// Difference is all that two jobs differ in. Lists are empty where nothing differs.
type Difference struct {
	SchemaVersion int       `json:"schema_version"`
	Jobs          [2]string `json:"jobs"`
	SameModel     bool      `json:"same_model"`
	Spec          []Field   `json:"spec"`
	Input         []Field   `json:"input"`
	Build         []Field   `json:"build"`
	Nodes         Nodes     `json:"nodes"`
	Arrays        []Array   `json:"arrays"`    // all of the models, by name
	Evaluated     bool      `json:"evaluated"` // both jobs held records out
	Evaluation    []Figure  `json:"evaluation"`
}

// job is what is read of one of the jobs.
type job struct {
	folder     Folder
	provenance provenance
	manifest   *proof.Manifest // nil where the job left no proof
	model      jobs.Arrays
	figures    map[string]float64
}

// provenance is what is compared of provenance.json.
type provenance struct {
	Job  string          `json:"job"`
	Spec json.RawMessage `json:"spec"`
	dataSet
	Manifest     manifest        `json:"manifest"`
	Queries      dataSet         `json:"queries"`
	InitialModel json.RawMessage `json:"initial_model"`
	Proof        *struct{}       `json:"proof"`
	Build        string          `json:"build"`
	Go           string          `json:"go"`
	Kernels      []string        `json:"kernel_sets"`
}

// manifest is the file that lists all objects of a job.
type manifest struct {
	SHA256 string `json:"sha256"`
}

// Jobs compares the jobs that left two folders. It reads both models whole, and of the rounds the records up to the
// first two that differ.
func Jobs(ctx context.Context, left, right Folder) (*Difference, error) {
	var pair [2]*job
	for i, folder := range []Folder{left, right} {
		var err error
		if pair[i], err = read(ctx, folder); err != nil {
			return nil, err
		}
	}
	a, b := pair[0], pair[1]
	d := &Difference{Jobs: [2]string{a.provenance.Job, b.provenance.Job},
		SameModel: a.model.Digest() == b.model.Digest(), Arrays: arrays(a.model, b.model),
		Evaluated: len(a.figures) > 0 && len(b.figures) > 0, Evaluation: figures(a.figures, b.figures),
		Build: builds(a.provenance, b.provenance)}
	var err error
	if d.Spec, err = fields(a.provenance.Spec, b.provenance.Spec); err != nil {
		return nil, fmt.Errorf("compare the specs: %w", err)
	}
	d.Input = inputs(a.provenance, b.provenance)
	d.Nodes, err = nodes(ctx, a, b)
	return d, err
}

func read(ctx context.Context, folder Folder) (*job, error) {
	j := &job{folder: folder}
	if err := readJSON(ctx, folder, worker.ProvenanceFile, &j.provenance); err != nil {
		return nil, err
	}
	data, err := folder(ctx, worker.ModelFile)
	if err != nil {
		return nil, err
	}
	if j.model, err = jobs.Decode(data); err != nil {
		return nil, err
	}
	var report struct{ Metrics []jobs.Metric }
	if err := readJSON(ctx, folder, worker.ReportFile, &report); err != nil {
		return nil, err
	}
	if j.figures, err = evaluated(report.Metrics); err != nil || j.provenance.Proof == nil {
		return j, err
	}
	if data, err = folder(ctx, proof.ManifestFile); err != nil {
		return nil, err
	}
	j.manifest, err = proof.ReadManifest(data)
	return j, err
}

func readJSON(ctx context.Context, folder Folder, name string, to any) error {
	data, err := folder(ctx, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s is not what a job leaves: %w", name, err)
	}
	return nil
}
