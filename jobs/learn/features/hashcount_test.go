package features

import (
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

// One term beyond the bound, wherever it is met, and nothing is counted.
func TestTooManyTermsToCount(t *testing.T) {
	full := newHashes()
	for i := range uint64(maxCountedTerms) {
		full.add(i)
	}
	one, known := newHashes(), newHashes()
	one.add(maxCountedTerms)
	known.add(3)
	if sum := full.plus(known); sum.many || len(sum.seen) != maxCountedTerms ||
		sum.metrics(&hasher{Hashing: Hashing{Bits: 1}}) == nil {
		t.Errorf("%d terms are too many", len(sum.seen))
	}
	for _, sum := range []hashes{full.plus(one), one.plus(full), full.plus(one).plus(known),
		known.plus(one.plus(full))} {
		if !sum.many || len(sum.seen) != 0 || sum.none() || sum.metrics(&hasher{Hashing: Hashing{Bits: 1}}) != nil {
			t.Errorf("%d terms: %v", len(sum.seen), sum.many)
		}
	}
	many := full.plus(one)
	if back, err := jobs.Read(jobs.ArraysOf(&many), &hashes{}); err != nil || !back.many {
		t.Errorf("%v, %v", back.many, err)
	}
	full.add(maxCountedTerms)
	if !full.many {
		t.Error("a leaf counts more than the bound")
	}
}

func TestHostileHashing(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"bits 0":      func(a jobs.Arrays) { jobs.PutScalar(a, hashBits, int32(0)) },
		"bits 3":      func(a jobs.Arrays) { jobs.PutScalar(a, hashBits, int32(3)) },
		"bits 64":     func(a jobs.Arrays) { jobs.PutScalar(a, hashBits, int32(64)) },
		"bits of U8":  func(a jobs.Arrays) { jobs.PutScalar(a, hashBits, uint8(2)) },
		"no bits":     func(a jobs.Arrays) { delete(a, hashBits) },
		"sign 2":      func(a jobs.Arrays) { jobs.PutScalar(a, "hashing.signed", uint8(2)) },
		"no sign":     func(a jobs.Arrays) { delete(a, "hashing.signed") },
		"short key":   func(a jobs.Arrays) { jobs.Put(a, "hashing.key", []uint64{1}) },
		"no key":      func(a jobs.Arrays) { delete(a, "hashing.key") },
		"other width": func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(8)) },
	} {
		_, _, a := hashedSpace(t, hashedParams(2, true), 1, [][]jobstest.Record{textsOf("a b")})
		spoil(a)
		_, err := ReadSpace(a)
		wantCorrupt(t, name, err)
	}
	phase, err := New(hashedParams(2, true), protocol.JobSpec{}, "next")
	if err != nil {
		t.Fatal(err)
	}
	partial := func() jobs.Arrays {
		leaf := jobs.Leaf{Blocks: jobstest.Shards([][]jobstest.Record{textsOf("a b")}, 1)[0]}
		a, _, err := phase.Map(t.Context(), nil, leaf, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"no hashes":    func(a jobs.Arrays) { delete(a, "hashes") },
		"twice":        func(a jobs.Arrays) { jobs.Put(a, "hashes", []uint64{4, 4}) },
		"not in order": func(a jobs.Arrays) { jobs.Put(a, "hashes", []uint64{4, 3}) },
		"too many":     func(a jobs.Arrays) { jobs.Put(a, "hashes", make([]uint64, maxCountedTerms+1)) },
		"many, listed": func(a jobs.Arrays) { jobs.PutScalar(a, "hashes.many", uint8(1)) },
		"many 2":       func(a jobs.Arrays) { jobs.PutScalar(a, "hashes.many", uint8(2)) },
		"no many":      func(a jobs.Arrays) { delete(a, "hashes.many") },
	} {
		bad := partial()
		spoil(bad)
		_, err := phase.Merge(partial(), bad)
		wantCorrupt(t, name, err)
	}
}
