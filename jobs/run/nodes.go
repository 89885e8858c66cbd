package run

import (
	"maps"
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// A partial that was merged carries the digests of the partials of all nodes beneath it, and a leaf's the digest of
// what its phase keeps for the next round. So the digest of a root covers all that its tree was made of: see package
// proof. Phases see neither.
const (
	nodesPrefix  = "proof."
	beneathArray = nodesPrefix + "nodes" // U8 [nodes, 32]: in post-order
	carryArray   = nodesPrefix + "carry" // U8 [32]
)

const digestBytes = 32

// Beneath returns the digests of the nodes beneath the node of a stored partial, in post-order, 32 bytes each: none of
// a leaf.
func Beneath(partial jobs.Arrays) ([]byte, error) {
	if _, ok := partial[beneathArray]; !ok {
		return nil, nil
	}
	return jobs.Get[uint8](partial, beneathArray, -1, digestBytes)
}

// withCarry returns a leaf's partial with the digest of what is kept for the leaf.
func withCarry(partial, carry jobs.Arrays) jobs.Arrays {
	if len(carry) == 0 || partial == nil {
		return partial
	}
	digest := carry.Digest()
	partial = maps.Clone(partial)
	jobs.Put(partial, carryArray, digest[:])
	return partial
}

// detachNodes takes both off a partial.
func detachNodes(partial jobs.Arrays) (plain jobs.Arrays, beneath []byte, err error) {
	_, merged := partial[beneathArray]
	_, carries := partial[carryArray]
	if !merged && !carries {
		return partial, nil, nil
	}
	if beneath, err = Beneath(partial); err != nil {
		return nil, nil, err
	}
	plain = maps.Clone(partial)
	delete(plain, beneathArray)
	delete(plain, carryArray)
	return plain, beneath, nil
}

// mergeNodes merges two neighbors, and lists what lies beneath the node that they make.
func (f fold) mergeNodes(left, right partial) (jobs.Arrays, error) {
	of := [2][digestBytes]byte{left.digested(), right.digested()}
	a, beneathLeft, err := detachNodes(left.arrays)
	if err != nil {
		return nil, err
	}
	b, beneathRight, err := detachNodes(right.arrays)
	if err != nil {
		return nil, err
	}
	merged, err := f.tasks.merge(f.phase, a, b)
	if err != nil {
		return nil, err
	}
	beneath := slices.Concat(beneathLeft, of[0][:], beneathRight, of[1][:])
	merged = maps.Clone(merged)
	jobs.Put(merged, beneathArray, beneath, len(beneath)/digestBytes, digestBytes)
	return merged, nil
}

// after is what the state keeps that a round leads to. It completes the record of the round.
func (k kept) after(record *proof.Record) kept {
	record.Round = k.Rounds + 1
	if k.Record != nil {
		record.Before = *k.Record
	}
	digest := proof.Digest(jobs.ArraysOf(record).Digest())
	k.Rounds, k.Record = record.Round, &digest
	k.States += record.StateSize
	return k
}

// StatesBefore returns how many bytes the states had that a job had before this one: a function of data and spec.
func StatesBefore(state jobs.Arrays) (int64, error) {
	_, k, err := detachKept(state)
	return k.States, err
}
