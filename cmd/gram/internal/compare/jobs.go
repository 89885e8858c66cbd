package compare

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
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
	provenance *origin.Provenance
	manifest   *proof.Manifest // nil where the job left no proof
	model      jobs.Arrays
	figures    map[string]float64
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
	if d.Spec, err = origin.Fields(a.provenance.Spec, b.provenance.Spec); err != nil {
		return nil, fmt.Errorf("compare the specs: %w", err)
	}
	d.Input = inputs(a.provenance, b.provenance)
	d.Nodes, err = nodes(ctx, a, b)
	return d, err
}

func read(ctx context.Context, folder Folder) (*job, error) {
	j := &job{folder: folder}
	var err error
	if j.provenance, err = readFile(ctx, folder, origin.ProvenanceFile, origin.ReadProvenance); err != nil {
		return nil, err
	}
	data, err := folder(ctx, origin.ModelFile)
	if err != nil {
		return nil, err
	}
	if j.model, err = jobs.Decode(data); err != nil {
		return nil, err
	}
	report, err := readFile(ctx, folder, origin.ReportFile, origin.ReadReport)
	if err != nil {
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

// readFile reads a file of the folder.
func readFile[T any](
	ctx context.Context, folder Folder, name string, read func([]byte) (*T, error),
) (*T, error) {
	data, err := folder(ctx, name)
	if err != nil {
		return nil, err
	}
	value, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not what a job leaves: %w", name, err)
	}
	return value, nil
}
