package proofs

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
)

// Rounds lists the rounds that led to the model. The coordinator remembers the newest only: an older one's record is
// read from beside the model, where the record after it names it by digest. What is not there is a fault of CodeLost.
func (k Keeper) Rounds(ctx context.Context, told []proof.Round) ([]proof.Round, error) {
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
	if err := k.findOlder(ctx, rounds); err != nil {
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
func (k Keeper) findOlder(ctx context.Context, rounds []proof.Round) error {
	first := slices.IndexFunc(rounds, func(r proof.Round) bool { return r.Round > 0 })
	states := make([]int64, first)
	for at := first; at > 0; at-- {
		after, err := k.record(ctx, int64(at)+1, rounds[at].Record.SHA256)
		if err != nil {
			return err
		}
		r, err := k.record(ctx, int64(at), after.Before)
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
		rounds[i].State = k.keepsState(total)
	}
	return nil
}

// record reads the record of a round.
func (k Keeper) record(ctx context.Context, round int64, want proof.Digest) (*proof.Record, error) {
	name := proof.RoundFile(round)
	data, err := k.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(data) != want {
		return nil, protocol.TaskFault(protocol.CodeLost, "the record of round %d is not as it was written", round).
			In(name)
	}
	return proof.ReadRecord(data)
}
