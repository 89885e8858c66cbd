package outputs

import (
	"errors"
	"fmt"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// agree checks what the files of the folder say of each other, before they are signed: the digests that
// provenance.json, report.json and the proof's manifest give of the model, of the spec, of each other and of further
// files; the fields of provenance.json and report.json that follow from spec and manifest; and the bill of materials,
// which follows from them. Where they differ it is a *protocol.Fault of CodeCorrupt that names the file.
func (f *Folder) agree() (*origin.Provenance, protocol.JobSpec, error) {
	r, spec, err := f.record()
	if err != nil {
		return nil, spec, disagree(origin.ProvenanceFile, err)
	}
	if err := f.same(origin.ModelFile, r.Model.SHA256.String()); err != nil {
		return nil, spec, disagree(origin.ProvenanceFile, err)
	}
	if hash, err := spec.Hash(); err != nil || hash != r.SpecHash {
		return nil, spec, disagree(origin.ProvenanceFile,
			fmt.Errorf("its spec has the SHA-256 %s, not %s", hash, r.SpecHash))
	}
	report, err := f.agreeWithReport(r)
	if err != nil {
		return nil, spec, disagree(origin.ReportFile, err)
	}
	if err := f.agreeWithProof(r, spec, report); err != nil {
		return nil, spec, err
	}
	if err := f.agreeWithBill(r, report); err != nil {
		return nil, spec, err
	}
	f.Job = r.Job
	return r, spec, nil
}

// record reads provenance.json and its spec.
func (f *Folder) record() (*origin.Provenance, protocol.JobSpec, error) {
	data, ok := f.whole[origin.ProvenanceFile]
	if !ok {
		return nil, protocol.JobSpec{}, errors.New("the file is absent")
	}
	r, err := origin.ReadProvenance(data)
	if err != nil {
		return nil, protocol.JobSpec{}, err
	}
	spec, err := protocol.ParseSpec(r.Spec) // strictly: what is signed reads the same to all readers
	return r, spec, err
}

// same compares a file of the folder with a digest.
func (f *Folder) same(name, want string) error {
	if have, ok := f.digest(name); !ok || have.String() != want {
		return fmt.Errorf("it says that %s has the SHA-256 %.80q; the file has %s", name, want, have)
	}
	return nil
}

// agreeWithProof compares provenance.json, and the report where there is one, with the manifest of the proof.
func (f *Folder) agreeWithProof(r *origin.Provenance, spec protocol.JobSpec, report *origin.Report) error {
	data, ok := f.whole[proof.ManifestFile]
	switch {
	case !ok && r.Proof == nil:
		return nil // a job of an earlier release, or one whose records were lost
	case !ok || r.Proof == nil:
		return disagree(proof.ManifestFile, errors.New("either it or what provenance.json tells of it is absent"))
	}
	m, err := proof.ReadManifest(data)
	if err == nil {
		err = f.same(proof.ManifestFile, r.Proof.Manifest.SHA256.String())
	}
	if err != nil {
		return disagree(proof.ManifestFile, err)
	}
	found, err := origin.Proved{Manifest: m, Spec: &spec}.Compare(r, report)
	return firstOf(found, err, origin.ProvenanceFile)
}

// agreeWithReport reads the report, where there is one, and compares the digests that it lists.
func (f *Folder) agreeWithReport(r *origin.Provenance) (*origin.Report, error) {
	data, ok := f.whole[origin.ReportFile]
	if !ok {
		return nil, nil
	}
	report, err := origin.ReadReport(data)
	if err != nil {
		return nil, err
	}
	if report.Job != r.Job {
		return nil, fmt.Errorf("it is of the job %.80q, provenance.json of %s", report.Job, r.Job)
	}
	if err := f.same(origin.ModelFile, report.ModelSHA256); err != nil {
		return nil, err
	}
	for _, file := range report.Files {
		if _, ok := f.digest(file.Name); !ok {
			continue // not copied
		}
		if err := f.same(file.Name, file.SHA256); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// agreeWithBill compares the bill of materials, where it and the report are there.
func (f *Folder) agreeWithBill(r *origin.Provenance, report *origin.Report) error {
	bill, ok := f.whole[mlbom.File]
	if !ok || report == nil {
		return nil
	}
	found, err := mlbom.Compare(bill, r, report.Metrics)
	return firstOf(found, err, mlbom.File)
}

// firstOf is the first mismatch as an error, or err, which is of a file.
func firstOf(found []origin.Mismatch, err error, file string) error {
	if len(found) > 0 {
		return disagree(found[0].File, errors.New(found[0].String()))
	}
	if err != nil {
		return disagree(file, err)
	}
	return nil
}

func disagree(name string, err error) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "the files of the folder do not belong together").In(name).
		Because(err).WithHint("Fetch the job's outputs again; `gram verify` tells more")
}
