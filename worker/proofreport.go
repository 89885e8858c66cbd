package worker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// proved is what provenance and report tell of a job's proof.
type proved struct {
	Root     proof.Digest `json:"root"`
	Manifest digest       `json:"manifest"`
	Kept     string       `json:"kept"`
	Rounds   int          `json:"rounds"`
	Leaves   int64        `json:"leaves"` // of all rounds
	States   int          `json:"states"` // rounds of which the state is kept that they began with
	Says     string       `json:"says"`
}

// takeRecords parts what steps recorded from the other metrics.
func (r *runReport) takeRecords() error {
	var err error
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m jobs.Metric) bool {
		if m.Name != recordMetric {
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

// prove writes the files of the proof that no step wrote, and tells facts of it. A job whose records are gone from the
// place of its outputs has succeeded all the same: the report says that there is no proof.
func (j *job) prove(ctx context.Context, brief *pb.JobBrief, facts *runReport) ([]*pb.OutputFile, error) {
	m := &proof.Manifest{SchemaVersion: proof.SchemaVersion, Job: j.id, Kept: j.spec.Spec.Run.KeptOfProof()}
	var err error
	if m.Rounds, err = j.rounds(ctx, facts.records); err != nil {
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeLost {
			return nil, err
		}
		facts.Warnings = append(facts.Warnings, "proof: there is none: "+fault.Error())
		return nil, nil
	}
	spec, err := j.spec.Canonical()
	if err != nil {
		return nil, err
	}
	input, err := j.w.get(ctx, j.madeBy(0), brief.GetManifest())
	if err != nil {
		return nil, err
	}
	plan, err := j.w.get(ctx, j.madeBy(0), brief.GetPlan())
	if err != nil {
		return nil, err
	}
	m.Model = proof.File{SHA256: proof.Digest(brief.GetModel().GetSha256()), Size: brief.GetModel().GetSize()}
	for _, file := range []struct {
		name string
		data []byte
		to   *proof.File
	}{{proof.SpecFile, spec, &m.Spec}, {proof.InputFile, input, &m.Input}, {proof.PlanFile, plan, &m.Plan}} {
		if _, err := j.writeOutput(ctx, file.name, file.data, otherBytes); err != nil {
			return nil, err
		}
		*file.to = proof.File{SHA256: sha256.Sum256(file.data), Size: int64(len(file.data))}
	}
	m.Root = m.ComputeRoot()
	data, err := m.Encode()
	if err != nil {
		return nil, err
	}
	written, err := j.writeOutput(ctx, proof.ManifestFile, data, otherBytes)
	if err != nil {
		return nil, err
	}
	facts.Proof = provedBy(m, digest{fmt.Sprintf("%x", written.GetSha256()), written.GetSize()})
	return []*pb.OutputFile{written}, nil
}

func provedBy(m *proof.Manifest, manifest digest) *proved {
	p := &proved{Root: m.Root, Manifest: manifest, Kept: m.Kept, Rounds: len(m.Rounds)}
	for _, r := range m.Rounds {
		p.Leaves += r.Leaves
		if r.State {
			p.States++
		}
	}
	switch {
	case m.Kept == proof.Full:
		p.Says = "digests, states and partials of all rounds are kept"
	case m.Kept == proof.Digests:
		p.Says = "digests are kept, and no states, as spec.run.proof asks"
	case p.States < p.Rounds:
		p.Says = fmt.Sprintf("digests of all rounds are kept, and the states of the first %d of %d: "+
			"all states together are more than 1 %% of the input", p.States, p.Rounds)
	default:
		p.Says = "digests and states of all rounds are kept"
	}
	return p
}

// rounds lists the rounds that led to the model. The coordinator remembers the newest only: an older one's record is
// read from beside the model, where the record after it names it by digest. What is not there is a fault of CodeLost.
func (j *job) rounds(ctx context.Context, told []proof.Round) ([]proof.Round, error) {
	if len(told) == 0 {
		return nil, protocol.TaskFault(protocol.CodeLost, "no round was recorded")
	}
	rounds := make([]proof.Round, told[len(told)-1].Round)
	for _, r := range told {
		if r.Round < 1 || r.Round > int64(len(rounds)) {
			continue // of an earlier beginning that came further
		}
		rounds[r.Round-1] = r
	}
	if err := j.findOlder(ctx, rounds); err != nil {
		return nil, err
	}
	for i, r := range rounds {
		if r.Round != int64(i)+1 {
			return nil, protocol.TaskFault(protocol.CodeLost, "round %d was not recorded", i+1)
		}
	}
	return rounds, nil
}

// findOlder fills in the first rounds, of which nothing was told.
func (j *job) findOlder(ctx context.Context, rounds []proof.Round) error {
	first := slices.IndexFunc(rounds, func(r proof.Round) bool { return r.Round > 0 })
	states := make([]int64, first)
	for at := first; at > 0; at-- {
		after, err := j.readRecord(ctx, int64(at)+1, rounds[at].Record.SHA256)
		if err != nil {
			return err
		}
		r, err := j.readRecord(ctx, int64(at), after.Before)
		if err != nil {
			return err
		}
		states[at-1] = r.StateSize
		rounds[at-1] = proof.Round{Round: r.Round, Phase: r.Phase, Trees: len(r.Trees), Leaves: r.Leaves(),
			Record: proof.File{SHA256: after.Before, Size: int64(len(r.Encode()))}}
	}
	total := int64(0)
	for i, size := range states {
		total += size
		rounds[i].State = j.keepsState(total)
	}
	return nil
}

// readRecord reads the record of a round from beside the model.
func (j *job) readRecord(ctx context.Context, round int64, want proof.Digest) (*proof.Record, error) {
	store, prefix, base, err := j.openOutput(ctx)
	if err != nil {
		return nil, err
	}
	name := proof.RoundFile(round)
	lost := protocol.TaskFault(protocol.CodeLost, "the record of round %d is not there as it was written", round).
		In(base + "/" + prefix + name)
	data, _, err := objstore.ReadAll(ctx, store, prefix+name, objstore.GetOptions{}, maxRecordBytes)
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return nil, lost.Because(err)
	case err != nil:
		return nil, outputFault(base+"/"+prefix+name, err)
	case sha256.Sum256(data) != want:
		return nil, lost
	}
	return proof.ReadRecord(data)
}

// maxRecordBytes bounds a record: as many nodes as a round of the most leaves has, and its header.
const maxRecordBytes = 80 << 20
