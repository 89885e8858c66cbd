package compare

import (
	"context"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

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
	// Other tells of each job whether its model is not the one that its proof, or else provenance.json, names.
	Other [2]bool `json:"other_model"`
}

// job is what is read of one of the jobs.
type job struct {
	folder     Folder
	provenance *origin.Provenance
	spec       map[string]string // its fields, by path
	manifest   *proof.Manifest   // nil where the job left no proof
	model      jobs.Arrays
	figures    map[string]float64
	other      bool // the model is not the one that the job's record names
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
		Build: builds(a.provenance, b.provenance), Other: [2]bool{a.other, b.other}}
	d.Spec = origin.Differing(a.spec, b.spec)
	d.Input = inputs(a.provenance, b.provenance)
	var err error
	d.Nodes, err = nodes(ctx, a, b)
	return d, err
}

func read(ctx context.Context, folder Folder) (*job, error) {
	j := &job{folder: folder}
	var err error
	if j.provenance, err = readFile(ctx, folder, origin.ProvenanceFile, origin.ReadProvenance); err != nil {
		return nil, err
	}
	if j.spec, err = origin.Flat(j.provenance.Spec); err != nil {
		return nil, j.damaged(origin.ProvenanceFile, err)
	}
	data, err := folder.Read(ctx, origin.ModelFile)
	if err != nil {
		return nil, err
	}
	model := proof.DigestOf(data)
	j.other = j.provenance.Model.SHA256 != model
	if j.model, err = jobs.Decode(data); err != nil {
		return nil, j.damaged(origin.ModelFile, err)
	}
	report, err := readFile(ctx, folder, origin.ReportFile, origin.ReadReport)
	if err != nil {
		return nil, err
	}
	j.figures = evaluated(report.Metrics)
	if j.provenance.Proof == nil {
		return j, nil
	}
	if data, err = folder.Read(ctx, proof.ManifestFile); err != nil {
		return nil, err
	}
	if j.manifest, err = proof.ReadManifest(data); err != nil {
		return nil, j.damaged(proof.ManifestFile, err)
	}
	j.other = j.other || j.manifest.Model.SHA256 != model
	return j, nil
}

// readFile reads a file of the folder.
func readFile[T any](
	ctx context.Context, folder Folder, name string, read func([]byte) (*T, error),
) (*T, error) {
	data, err := folder.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	value, err := read(data)
	if err != nil {
		return nil, &Damaged{folder.Name, name, err}
	}
	return value, nil
}
