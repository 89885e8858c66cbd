package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker/proofs"
)

// keeper keeps the job's proof beside its model.
func (j *job) keeper() proofs.Keeper {
	bytes := int64(0)
	for _, in := range j.inputs {
		for _, o := range in.manifest.Objects {
			bytes += o.Size
		}
	}
	return proofs.Keeper{Kept: j.spec.Spec.Run.KeptOfProof(), InputBytes: bytes, Read: j.output.read}
}

// takeRecords parts what steps recorded from the other metrics.
func (r *runReport) takeRecords() (err error) {
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m jobs.Metric) bool {
		if m.Name != proofs.RecordMetric {
			return false
		}
		var round proof.Round
		if failed := json.Unmarshal(m.Value, &round); failed != nil {
			err = fmt.Errorf("read what a step recorded: %w", failed)
		}
		r.records = append(r.records, round)
		return true
	})
	return err
}

// prove writes the files of the proof that no step wrote, and sums it up. A job whose records are gone from the place
// of its outputs has succeeded all the same: the report says that there is no proof.
func (j *job) prove(ctx context.Context, brief *pb.JobBrief, facts *runReport) ([]*pb.OutputFile, error) {
	rounds, err := j.keeper().Rounds(ctx, facts.records)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Code == protocol.CodeLost {
		facts.Warnings = append(facts.Warnings, "the job has no proof: "+fault.Error())
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &proof.Manifest{SchemaVersion: proof.SchemaVersion, Job: j.id, Kept: j.spec.Spec.Run.KeptOfProof(),
		Rounds: rounds,
		Model:  proof.File{SHA256: proof.Digest(brief.GetModel().GetSha256()), Size: brief.GetModel().GetSize()}}
	if err := j.writeProved(ctx, brief, m); err != nil {
		return nil, err
	}
	m.Root = m.ComputeRoot()
	data, err := m.Encode()
	if err != nil {
		return nil, err
	}
	written, err := j.output.write(ctx, proof.ManifestFile, data, otherBytes)
	if err != nil {
		return nil, err
	}
	facts.Proof = origin.SummaryOf(m, proof.File{SHA256: sha256.Sum256(data), Size: int64(len(data))})
	return []*pb.OutputFile{written}, nil
}

// writeProved writes what the rounds were made from.
func (j *job) writeProved(ctx context.Context, brief *pb.JobBrief, m *proof.Manifest) error {
	spec, err := j.spec.Canonical()
	if err != nil {
		return err
	}
	input, err := j.w.get(ctx, j.madeBy(0), brief.GetManifest())
	if err != nil {
		return err
	}
	plan, err := j.w.get(ctx, j.madeBy(0), brief.GetPlan())
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
		to   *proof.File
	}{{proof.SpecFile, spec, &m.Spec}, {proof.InputFile, input, &m.Input}, {proof.PlanFile, plan, &m.Plan}} {
		if _, err := j.output.write(ctx, file.name, file.data, otherBytes); err != nil {
			return err
		}
		*file.to = proof.File{SHA256: sha256.Sum256(file.data), Size: int64(len(file.data))}
	}
	return nil
}
