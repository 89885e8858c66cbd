package proofs

import (
	"context"
	"crypto/sha256"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// RecordMetric is the name of the metric that carries what a step recorded, a proof.Round, to the report.
const RecordMetric = "step.record"

// Keeper keeps the proof of a job.
type Keeper struct {
	Kept       string // of spec.run.proof, with its default
	InputBytes int64  // stored bytes of the objects of all data sets, without those of labels and ids
	// Read reads a file beside the model; a file that is not there is a *protocol.Fault of CodeLost.
	Read func(ctx context.Context, name string) ([]byte, error)
}

// Partials returns what is to see each partial that a task makes (jobs/run), which writes it where all are kept; nil
// where they are not.
func (k Keeper) Partials(emit jobs.Emit) func(context.Context, protocol.Node, jobs.Arrays) error {
	if k.Kept != proof.Full {
		return nil
	}
	return func(ctx context.Context, _ protocol.Node, partial jobs.Arrays) error {
		data := partial.Encode()
		_, err := emit(ctx, proof.PartialFile(sha256.Sum256(data)), data)
		return err
	}
}

// Round is what a step leaves for the proof: the record of the round, and the state that it began with where that is to
// be kept.
type Round struct {
	Metric jobs.Metric // names the record for the report
	record *proof.Record
	data   []byte      // the record
	state  jobs.Arrays // nil where it is not kept
}

// Round prepares what is written of a round that began with a state.
func (k Keeper) Round(state jobs.Arrays, record *proof.Record) (*Round, error) {
	r := &Round{record: record, data: record.Encode()}
	entry := proof.Round{Round: record.Round, Phase: record.Phase, Trees: len(record.Trees), Leaves: record.Leaves(),
		Record: proof.File{SHA256: sha256.Sum256(r.data), Size: int64(len(r.data))}}
	before, err := run.StatesBefore(state)
	if err != nil {
		return nil, err
	}
	if entry.State = k.keepsState(before + record.StateSize); entry.State {
		r.state = state
	}
	r.Metric, err = jobs.NewMetric(RecordMetric, entry)
	return r, err
}

// Writes are the writes of the files; none needs another.
func (r *Round) Writes(emit jobs.Emit) []func(context.Context) error {
	write := func(name string, data func() []byte) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := emit(ctx, name, data())
			return err
		}
	}
	all := []func(context.Context) error{write(proof.RoundFile(r.record.Round), func() []byte { return r.data })}
	if r.state != nil {
		all = append(all, write(proof.StateFile(r.record.State), r.state.Encode))
	}
	return all
}

// keepsState reports whether a state is kept that makes that many bytes with those before it.
func (k Keeper) keepsState(bytes int64) bool {
	return proof.KeepsState(k.Kept, k.InputBytes, bytes)
}
