package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Bounds of files that are read into memory.
const (
	maxRecordBytes = 128 << 20 // 2^21 nodes of 32 bytes, and more
	maxPlanBytes   = 1 << 30
)

// verifier is a check at work.
type verifier struct {
	outputs
	cfg Config

	provenance *origin.Provenance
	report     *origin.Report // nil until it is read
	manifest   *proof.Manifest
	spec       protocol.JobSpec
	kind       jobs.Kind
	tasks      *run.Tasks
	planned    planned.Inputs
	inputs     []*input
	rounds     []*round
	records    []*proof.Record // nil until all are read
	shelf      *shelf
	found      []origin.Found // by the repeated steps, by round

	broken map[slot]bool // leaves, or with leaf -1 phases, of which it is not known what they carry; mu guards it
}

// Job checks a job. What does not match or is missing is in the result; the error is the context's, or says that the
// check itself could not go on.
func Job(ctx context.Context, cfg Config) (*Result, error) {
	begun := time.Now() //lint:clock for people
	v := &verifier{cfg: cfg, outputs: outputs{newLedger(cfg.Progress), cfg.Store, cfg.Prefix, cfg.Asked},
		broken: map[slot]bool{}, shelf: newShelf(shelfBytes)}
	v.result.Kernels = cfg.Ops.Name
	err := errors.Join(v.check(ctx), v.shelf.close())
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	v.conclude()
	v.result.Seconds = time.Since(begun).Seconds()
	return v.result, nil
}

// check goes on as long as what it needs is there and true.
func (v *verifier) check(ctx context.Context) error {
	if err := v.compareAsked(ctx); err != nil || len(v.result.False) > 0 {
		return err
	}
	for _, stage := range []func(context.Context) error{
		v.openProof, v.openSpec, v.openPlan, v.openRecords, told{v}.compare, v.checkFiles, v.openInputs,
		v.repeat, told{v}.compareFound,
	} {
		if err := stage(ctx); err != nil {
			return err
		}
		if v.stops() {
			return nil
		}
	}
	return nil
}

// stops reports whether something is false, or a file is missing without which nothing can go on.
func (v *verifier) stops() bool {
	return len(v.result.False) > 0 || v.manifest == nil
}

// openProof reads provenance and manifest.
func (v *verifier) openProof(ctx context.Context) error {
	data, err := v.read(ctx, origin.ProvenanceFile, origin.MaxBytes)
	if data == nil || err != nil {
		return err
	}
	if v.provenance, err = origin.ReadProvenance(data); err != nil {
		v.noteFalse(Finding{Of: OfFile, File: origin.ProvenanceFile,
			Says: origin.ProvenanceFile + " cannot be read: " + err.Error()})
		return nil
	}
	p := v.provenance.Proof
	if asked := v.asked.Job; asked != "" && asked != v.provenance.Job {
		v.noteFalse(Finding{Of: OfRecord, File: origin.ProvenanceFile,
			Says: fmt.Sprintf("The folder holds job %.80s, and not %s.", v.provenance.Job, asked)})
	}
	v.result.Job, v.result.Model = v.provenance.Job, v.provenance.Model.SHA256
	if p == nil {
		v.noteMissing(Finding{Of: OfFile, File: origin.ProvenanceFile,
			Says: "The job left no proof: it ran under an earlier release, or its records were lost (report.json)."})
		return nil
	}
	data, err = v.readFile(ctx, proof.ManifestFile, p.Manifest, proof.MaxManifestBytes)
	if err != nil {
		return err
	}
	if data == nil { // the model can be compared all the same
		v.expect(&v.result.Files, 1)
		of := " (" + origin.ProvenanceFile + " names it)"
		return v.compareFile(ctx, file{origin.ModelFile, v.provenance.Model, of}, 0)
	}
	m, err := proof.ReadManifest(data)
	if err != nil {
		v.noteFalse(Finding{Of: OfRecord, File: proof.ManifestFile, Says: err.Error()})
		return nil
	}
	v.manifest, v.result.Root, v.result.Kept = m, m.Root, m.Kept
	return nil
}

// openSpec reads the spec and makes the job's tasks.
func (v *verifier) openSpec(ctx context.Context) error {
	data, err := v.readFile(ctx, proof.SpecFile, v.manifest.Spec, protocol.MaxSpecBytes)
	if data == nil || err != nil {
		return err
	}
	if v.spec, err = protocol.ParseSpec(data); err != nil {
		return v.contradicts(proof.SpecFile, err)
	}
	canonical, err := v.spec.Canonical()
	if err != nil || !bytes.Equal(canonical, data) {
		return v.contradicts(proof.SpecFile, errors.New("it is not the canonical form of a spec"))
	}
	told, err := protocol.ParseSpec(v.provenance.Spec)
	if err == nil {
		canonical, err = told.Canonical()
	}
	if err != nil || !bytes.Equal(canonical, data) {
		return v.contradicts(origin.ProvenanceFile, errors.New("its spec is not that of "+proof.SpecFile))
	}
	if kept := v.spec.Spec.Run.KeptOfProof(); kept != v.manifest.Kept {
		return v.contradicts(proof.SpecFile, fmt.Errorf("its run.proof is %s, and in %s kept is %s", kept,
			proof.ManifestFile, v.manifest.Kept))
	}
	v.result.Kind = v.spec.Kind
	return v.makeTasks()
}

// makeTasks makes what repeats the job. A kind that this build does not know is missing: digests can be compared.
func (v *verifier) makeTasks() (err error) {
	if v.kind, err = v.cfg.Kind(v.spec.Kind); err != nil {
		v.noteMissing(Finding{Of: OfCode, Says: "Nothing can be repeated: " + err.Error() + "."})
		return nil
	}
	algorithm, err := v.kind.New(v.spec)
	if err != nil {
		return v.contradicts(proof.SpecFile, err)
	}
	v.tasks, err = run.NewTasks(algorithm, v.spec, v.cfg.Ops)
	return err
}
