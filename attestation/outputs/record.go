package outputs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// record is provenance.json, as far as it is signed.
type record struct {
	Job        string          `json:"job"`
	Spec       json.RawMessage `json:"spec"`
	SpecHash   string          `json:"spec_sha256"`
	ResultHash string          `json:"result_sha256"`
	Model      digest          `json:"model"`
	Manifest   digest          `json:"manifest"`
	Plan       digest          `json:"plan"`
	dataSet
	Queries      *dataSet `json:"queries"`
	InitialModel *struct {
		URI    string `json:"uri"`
		SHA256 string `json:"sha256"`
	} `json:"initial_model"`
	Rounds []struct {
		Finished string `json:"finished"`
	} `json:"rounds"`
	Kernels []string `json:"kernel_sets"`
	Build   string   `json:"build"`
	Go      string   `json:"go"`
	Started string   `json:"started"`
	Proof   *struct {
		Root     string `json:"root"`
		Manifest digest `json:"manifest"`
	} `json:"proof"`
}

type digest struct {
	SHA256 string `json:"sha256"`
}

type dataSet struct {
	Objects     []object `json:"objects"`
	ObjectCount int      `json:"object_count"`
	Labels      []object `json:"labels"` // of labels_uri
	IDs         []object `json:"ids"`    // of ids_uri
}

type object struct {
	Key       string `json:"key"`
	Size      int64  `json:"size"`
	ETag      string `json:"etag"`
	VersionID string `json:"version_id"`
	Digest    string `json:"digest"`
	Integrity string `json:"integrity"`
}

type runReport struct {
	Job         string `json:"job"`
	ModelSHA256 string `json:"model_sha256"`
	Files       []struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"files"`
}

// Agree checks what the files of the folder say of each other, before they are signed: the digests that
// provenance.json, report.json and the proof's manifest give of the model, of the spec, of each other and of further
// files, and the root. Where they differ it is a *protocol.Fault of CodeCorrupt that names the file.
func (f *Folder) Agree() error {
	_, _, err := f.agree()
	return err
}

func (f *Folder) agree() (*record, protocol.JobSpec, error) {
	r, spec, err := f.record()
	if err != nil {
		return nil, spec, disagree(ProvenanceFile, err)
	}
	if err := f.same(ModelFile, r.Model.SHA256); err != nil {
		return nil, spec, disagree(ProvenanceFile, err)
	}
	if hash, err := spec.Hash(); err != nil || hash != r.SpecHash {
		return nil, spec, disagree(ProvenanceFile, fmt.Errorf("its spec has the SHA-256 %s, not %s", hash, r.SpecHash))
	}
	if err := f.agreeWithProof(r); err != nil {
		return nil, spec, disagree(proof.ManifestFile, err)
	}
	if err := f.agreeWithReport(r); err != nil {
		return nil, spec, disagree(ReportFile, err)
	}
	f.Job = r.Job
	return r, spec, nil
}

// record reads provenance.json and its spec.
func (f *Folder) record() (*record, protocol.JobSpec, error) {
	var spec protocol.JobSpec
	data, ok := f.whole[ProvenanceFile]
	if !ok {
		return nil, spec, errors.New("the file is absent")
	}
	r := new(record)
	if err := protocol.CheckAlike(data, "spec"); err != nil {
		return nil, spec, err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, spec, err
	}
	if !protocol.ValidJobID(r.Job) {
		return nil, spec, fmt.Errorf("%.80q is no job's id", r.Job)
	}
	return r, spec, json.Unmarshal(r.Spec, &spec)
}

// same compares a file of the folder with a digest.
func (f *Folder) same(name, want string) error {
	if have, ok := f.digest(name); !ok || have.String() != want {
		return fmt.Errorf("it says that %s has the SHA-256 %.80q; the file has %s", name, want, have)
	}
	return nil
}

func (f *Folder) agreeWithProof(r *record) error {
	data, ok := f.whole[proof.ManifestFile]
	switch {
	case !ok && r.Proof == nil:
		return nil // a job of an earlier release, or one whose records were lost
	case !ok || r.Proof == nil:
		return errors.New("either it or what provenance.json tells of it is absent")
	}
	m, err := proof.ReadManifest(data)
	if err != nil {
		return err
	}
	if err := f.same(proof.ManifestFile, r.Proof.Manifest.SHA256); err != nil {
		return err
	}
	for _, c := range []struct{ what, proved, told string }{
		{"job", m.Job, r.Job}, {"root", m.Root.String(), r.Proof.Root},
		{"model", m.Model.SHA256.String(), r.Model.SHA256}, {"spec", m.Spec.SHA256.String(), r.SpecHash},
		{"input", m.Input.SHA256.String(), r.Manifest.SHA256}, {"plan", m.Plan.SHA256.String(), r.Plan.SHA256},
	} {
		if c.proved != c.told {
			return fmt.Errorf("its %s is %s, that of provenance.json is %.80q", c.what, c.proved, c.told)
		}
	}
	return nil
}

func (f *Folder) agreeWithReport(r *record) error {
	data, ok := f.whole[ReportFile]
	if !ok {
		return nil
	}
	var report runReport
	if err := protocol.CheckAlike(data, "spec", "metrics"); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return err
	}
	if report.Job != r.Job {
		return fmt.Errorf("it is of the job %.80q, provenance.json of %s", report.Job, r.Job)
	}
	if err := f.same(ModelFile, report.ModelSHA256); err != nil {
		return err
	}
	for _, file := range report.Files {
		if _, ok := f.digest(file.Name); !ok {
			continue // not copied
		}
		if err := f.same(file.Name, file.SHA256); err != nil {
			return err
		}
	}
	return nil
}

func disagree(name string, err error) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "the files of the folder do not belong together").In(name).
		Because(err).WithHint("Fetch the job's outputs again; `gram verify` tells more")
}
