package verify

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/jobs/planned"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// file reads a file and compares its digest with what says of it. Without an error, nil data mean that it is missing,
// which is noted.
func (v *verifier) file(ctx context.Context, name string, want proof.File, says string) ([]byte, error) {
	data, err := v.Read(ctx, name)
	if errors.Is(err, objstore.ErrNotFound) {
		v.missing("the file %s", name)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v.result.Files++
	if got := proof.Digest(sha256.Sum256(data)); got != want.SHA256 {
		return nil, falseFile(name, "%s says %s, its digest is %s", says, want.SHA256, got)
	}
	if want.Size >= 0 && int64(len(data)) != want.Size {
		return nil, falseFile(name, "%s says %d bytes, it has %d", says, want.Size, len(data))
	}
	return data, nil
}

// anySize stands for a size that nothing says.
const anySize = -1

// open reads the manifest of the proof, and compares it with the provenance.
func (v *verifier) open(ctx context.Context) error {
	v.job = &job{}
	p := &v.job.provenance
	data, err := v.Read(ctx, provenanceFile)
	if errors.Is(err, objstore.ErrNotFound) {
		v.missing("the file %s", provenanceFile)
		return errMissing
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, p); err != nil {
		return falseFile(provenanceFile, "it is not what a job leaves: %v", err)
	}
	v.result.Job = p.Job
	if p.Proof == nil {
		v.missing("a proof: %s names none", provenanceFile)
		return errMissing
	}
	data, err = v.file(ctx, proof.ManifestFile, p.Proof.Manifest, provenanceFile)
	if err != nil {
		return err
	}
	if data == nil {
		return errMissing
	}
	m, err := proof.ReadManifest(data)
	if err != nil {
		return falseFile(proof.ManifestFile, "%v", err)
	}
	v.job.manifest = m
	v.result.Root, v.result.Kept = m.Root.String(), m.Kept
	if m.Root != p.Proof.Root || m.Job != p.Job || m.Kept != p.Proof.Kept || m.Spec.SHA256 != p.SpecHash ||
		m.Model != p.Model || m.Input != p.Manifest || m.Plan != p.Plan {
		return falseFile(provenanceFile, "it names another job, root, spec, input, plan or model than %s",
			proof.ManifestFile)
	}
	return nil
}

// compareFiles compares the digests of all files, and reads those that tell what is to be repeated.
func (v *verifier) compareFiles(ctx context.Context) error {
	v.Progress("files", 0, len(v.job.manifest.Rounds))
	if err := v.readSpec(ctx); err != nil {
		return err
	}
	if err := v.readPlan(ctx); err != nil {
		return err
	}
	if _, err := v.file(ctx, modelFile, v.job.manifest.Model, proof.ManifestFile); err != nil {
		return err
	}
	if err := v.readRecords(ctx); err != nil {
		return err
	}
	v.available = make([]bool, len(v.job.records))
	for i, record := range v.job.records {
		v.Progress("files", i, len(v.job.records))
		if err := v.compareRound(ctx, i, record); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) readSpec(ctx context.Context) error {
	data, err := v.file(ctx, proof.SpecFile, v.job.manifest.Spec, proof.ManifestFile)
	if err != nil {
		return err
	}
	if data == nil {
		return errMissing
	}
	if v.job.spec, err = protocol.ParseSpec(data); err != nil {
		return falseFile(proof.SpecFile, "it is no spec: %v", err)
	}
	v.result.Kind = v.job.spec.Kind
	told, err := protocol.ParseSpec(v.job.provenance.Spec)
	if err != nil {
		return falseFile(provenanceFile, "its spec is none: %v", err)
	}
	if again, err := told.Canonical(); err != nil || string(again) != string(data) {
		return falseFile(provenanceFile, "its spec is not that of %s", proof.SpecFile)
	}
	return nil
}

func (v *verifier) readPlan(ctx context.Context) error {
	input, err := v.file(ctx, proof.InputFile, v.job.manifest.Input, proof.ManifestFile)
	if err != nil {
		return err
	}
	plan, err := v.file(ctx, proof.PlanFile, v.job.manifest.Plan, proof.ManifestFile)
	if err != nil {
		return err
	}
	if input == nil || plan == nil {
		return errMissing
	}
	sets := 1
	if v.job.spec.Spec.Queries != nil {
		sets++
	}
	if v.job.planned, err = planned.Unmarshal(input, plan, sets, v.job.spec.Spec.Model != ""); err != nil {
		return falseFile(proof.PlanFile, "it does not fit %s: %v", proof.InputFile, err)
	}
	return nil
}

// readRecords reads the records of all rounds, which hang together by their digests.
func (v *verifier) readRecords(ctx context.Context) error {
	before, gone := proof.Digest{}, false
	for _, r := range v.job.manifest.Rounds {
		name := proof.RoundFile(r.Round)
		data, err := v.file(ctx, name, r.Record, proof.ManifestFile)
		if err != nil {
			return err
		}
		if data == nil {
			gone = true
			continue
		}
		record, err := proof.ReadRecord(data)
		if err != nil {
			return falseFile(name, "%v", err)
		}
		if record.Round != r.Round || record.Phase != r.Phase || len(record.Trees) != r.Trees ||
			record.Leaves() != r.Leaves || !gone && record.Before != before {
			return falseFile(name, "it is the record of another round than %s says, or does not follow the one before",
				proof.ManifestFile)
		}
		before = r.Record.SHA256
		v.job.records = append(v.job.records, record)
	}
	if gone {
		return errMissing
	}
	return nil
}

// compareRound compares what is kept of a round.
func (v *verifier) compareRound(ctx context.Context, at int, record *proof.Record) error {
	if v.job.manifest.Rounds[at].State {
		data, err := v.file(ctx, proof.StateFile(record.State), proof.File{SHA256: record.State, Size: record.StateSize},
			proof.RoundFile(record.Round))
		if err != nil {
			return err
		}
		v.available[at] = data != nil
	}
	if v.job.manifest.Kept != proof.Full {
		return nil
	}
	for tree, leaves := range record.Trees {
		for node := range proof.PostOrder(protocol.Tree(leaves)) {
			d := record.Node(tree, node)
			_, err := v.file(ctx, proof.PartialFile(d), proof.File{SHA256: d, Size: anySize},
				fmt.Sprintf("round %d, tree %d, node (%d,%d)", record.Round, tree, node.Level, node.Index))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
