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
const vectorDigest = "54263a8485a423d6156eec410e0d2c7b591cc22faf1d18a222215b5389a72222"

func TestVectorDigest(t *testing.T) {
	for _, s := range All() {
		if got := digestVectors(s); got != vectorDigest {
			t.Errorf("%s: digest of the results is %s, want %s", s.Name, got, vectorDigest)
		}
	}
}

// mixedResults runs every operation of mixed precision: of float64 weights, thirds of the first row, and the float32
// row x.
func mixedResults(s *Set, x []float32, rows Matrix, index []int32, f float64) []float64 {
	thirds := func(row []float32) []float64 {
		list := make([]float64, len(row))
		for i, v := range row {
			list[i] = float64(v) / 3
		}
		return list
	}
	var all []float64
	for i := range rows.Rows {
		all = append(all, thirds(rows.Row(i))...)
	}
	w := thirds(x)
	copy(w, all)
	half := len(x) / 2
	results := []float64{s.Mixed.Dot(w, x), s.Mixed.Square(x), s.Mixed.SparseDot(index, x, w),
		s.Mixed.SparseDotBefore(index, x, w, index[half:], x[half:])}
	s.Mixed.Axpy(w, x, f)
	s.Mixed.AddScaledRows(w, all, len(x), thirds(x[:min(len(x), rows.Rows)]))
	return append(results, w...)
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
			for _, v := range mixedResults(s, o.y, o.x, index, float64(o.f)/3) {
				write(v)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
