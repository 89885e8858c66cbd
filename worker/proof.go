package worker

import (
	"context"
	"crypto/sha256"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// The states of a job are kept beside its model while they are a hundredth of the input together, or this little.
const (
	statesShare = 100
	statesFloor = 1 << 20 // bytes
)

// recordMetric carries what a step recorded to the report task, which takes it out of the metrics.
const recordMetric = "step.record"

// keepPartial is the Keep of a node's fold: under proof: full it writes each partial beside the model.
func (n *nodeTask) keepPartial() func(context.Context, protocol.Node, jobs.Arrays) error {
	if n.job.spec.Spec.Run.KeptOfProof() != proof.Full {
		return nil
	}
	return func(ctx context.Context, _ protocol.Node, partial jobs.Arrays) error {
		data := partial.Encode()
		_, err := n.emit(ctx, proof.PartialFile(sha256.Sum256(data)), data)
		return err
	}
}

// roundProof is what a step leaves for the proof: the record of the round, and the state that it began with where it is
// to be kept.
type roundProof struct {
	record *proof.Record
	state  jobs.Arrays // nil where it is not kept
	data   []byte      // the record
	metric jobs.Metric // names the record for the report
}

// proofOf prepares what is written of a round.
func (j *job) proofOf(state jobs.Arrays, record *proof.Record) (*roundProof, error) {
	p := &roundProof{record: record, data: record.Encode()}
	entry := proof.Round{Round: record.Round, Phase: record.Phase, Trees: len(record.Trees), Leaves: record.Leaves(),
		Record: proof.File{SHA256: sha256.Sum256(p.data), Size: int64(len(p.data))}}
	before, err := run.StatesBefore(state)
	if err != nil {
		return nil, err
	}
	if entry.State = j.keepsState(before + record.StateSize); entry.State {
		p.state = state
	}
	p.metric, err = jobs.NewMetric(recordMetric, entry)
	return p, err
}

// writes write the files beside the model.
func (p *roundProof) writes(emit jobs.Emit) []func(context.Context) error {
	write := func(name string, data func() []byte) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := emit(ctx, name, data())
			return err
		}
	}
	all := []func(context.Context) error{write(proof.RoundFile(p.record.Round), func() []byte { return p.data })}
	if p.state != nil {
		all = append(all, write(proof.StateFile(p.record.State), p.state.Encode))
	}
	return all
}

// keepsState reports whether a state is kept that makes that many bytes with those before it.
func (j *job) keepsState(bytes int64) bool {
	switch j.spec.Spec.Run.KeptOfProof() {
	case proof.Full:
		return true
	case proof.States:
		return bytes <= max(statesFloor, j.inputBytes()/statesShare)
	}
	return false
}

// inputBytes is the size of all data sets, as they are stored.
func (j *job) inputBytes() int64 {
	bytes := int64(0)
	for _, in := range j.inputs {
		for _, o := range in.manifest.Objects {
			bytes += o.Size
		}
	}
	return bytes
}
