package kernelops

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// vectorDigest is the promise of the vector-shaped operations: SHA-256 over their results on
// fixed data. It is the same on every set, build and architecture; docs/numerics.md says why.
const vectorDigest = "7623e85c1b56ea7809094a0b4c97cebf1e05ef0773d6908b2b6a673ff4cf094e"

func TestVectorDigest(t *testing.T) {
	for _, s := range All() {
		if got := digestVectors(s); got != vectorDigest {
			t.Errorf("%s: digest of the results is %s, want %s", s.Name, got, vectorDigest)
		}
	}
}

// digestVectors runs every operation on hard data of many shapes. NaN results are made one NaN first:
// their payload is not promised.
func digestVectors(s *Set) string {
	h := sha256.New()
	write := func(v float64) {
		if v != v {
			v = math.NaN()
		}
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	r := rand.New(rand.NewPCG(20, 0))
	data := hardData32(20)
	for _, name := range []string{"normal", "bits", "subnormal", "tie", "short", "overflow", "special", "tiny"} {
		for _, cols := range []int{1, 2, 7, 31, 32, 33, 100, 259} {
			o := newOperands(r, 4, cols, 1, 0, data[name])
			index := make([]int32, cols)
			for p := range index {
				index[p] = int32(r.IntN(cols))
			}
			for _, op := range vectorOps32 {
				if op.name == "DotEach" { // its results are those of DotRows, which are here once
					continue
				}
				result := o.copy()
				op.run(s, result)
				for _, v := range slices.Concat(result.row, result.col) {
					write(float64(v))
				}
				for _, v := range slices.Concat(result.sums, result.far) {
					write(v)
				}
			}
			write(float64(s.SparseDot(index, o.y, o.row)))
			s.SparseAxpy(o.row, index, o.y, o.f)
			for _, v := range o.row {
				write(float64(v))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
