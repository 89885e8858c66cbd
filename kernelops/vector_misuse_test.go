package kernelops

import (
	"reflect"
	"slices"
	"testing"
)

// TestVectorsMisuse checks that misuse panics with its message and writes nothing.
func TestVectorsMisuse(t *testing.T) {
	v := make([]float32, 100)
	m := Matrix{Data: v[:12], Rows: 3, Cols: 4, Stride: 4}
	const lengths, overlaps = "kernelops: rows have different lengths", "kernelops: result overlaps an input"
	reductions := map[string]func(*Set, []float32, Matrix, []float32){
		"DotRows": (*Set).DotRows, "SqEuclideanRows": (*Set).SqEuclideanRows, "L1Rows": (*Set).L1Rows,
		"LInfRows": (*Set).LInfRows,
	}
	for _, s := range All() {
		calls := map[string][]func(){
			lengths: {
				func() { s.Dot(v[:3], v[:4]) },
				func() { s.DotEach(v[20:22], [][]float32{v[:4]}, v[30:34], nil) },
				func() { s.DotEach(v[20:22], [][]float32{v[:4], v[4:7]}, v[30:34], nil) },
				func() { s.Axpy(v[:3], v[10:14], 1) },
				func() { s.Axpby(v[:3], nil, 1, 1) },
				func() { s.AxpyRows(v[20:25], m, v[30:33]) },
				func() { s.AxpyRows(v[20:24], m, v[30:32]) },
				func() { s.ColumnRanges(v[20:24], v[30:33], v[40:44], m) },
				func() { s.ColumnRanges(v[20:24], v[30:34], v[40:45], m) },
				func() { s.HammingRows(make([]int, 2), make([]uint64, 5), make([]uint64, 2)) },
				func() { s.HammingRows(make([]int, 2), make([]uint64, 6), make([]uint64, 2)) },
				func() { s.HammingRows(make([]int, 2), make([]uint64, 6), nil) },
			},
			overlaps: {
				func() { s.AxpyRows(v[11:15], m, v[30:33]) },
				func() { s.DotEach(v[3:5], [][]float32{v[8:12], v[4:8]}, v[30:34], nil) },
				func() { s.DotEach(v[30:32], [][]float32{v[:4], v[4:8]}, v[31:35], nil) },
				func() { s.AxpyRows(v[30:34], m, v[33:36]) },
				func() { s.ColumnRanges(v[20:24], v[11:15], v[40:44], m) },
				func() { s.ColumnRanges(v[20:24], v[30:34], v[23:27], m) },
			},
			"kernelops: rows overlap": {func() { s.Axpy(v[:4], v[1:5], 1) }},
			"kernelops: not one group for every row": {
				func() { s.AccumulateRows(make([]float64, 8), m, make([]int32, 2)) },
				func() { s.GroupDistances(make([]float64, 3), m, make([]float64, 8), make([]int32, 2)) },
				func() { s.GroupDistances(make([]float64, 2), m, make([]float64, 8), make([]int32, 3)) },
				func() { s.SumParts(make([]float64, 8), make([]float64, 4), m, make([]int32, 2)) },
				func() { s.SquareParts(make([]float64, 12), make([]float64, 4), m, make([]int32, 4)) },
			},
			"kernelops: parts of another shape": {
				func() { s.SumParts(make([]float64, 8), make([]float64, 3), m, make([]int32, 3)) },
				func() { s.SquareParts(make([]float64, 8), make([]float64, 4), m, make([]int32, 3)) },
			},
			"kernelops: no sum for a group": {
				func() { s.AccumulateRows(make([]float64, 8), m, []int32{0, 1, 2}) },
				func() { s.AccumulateRows(make([]float64, 8), m, []int32{0, -1, 0}) },
				func() { s.AccumulateRows(nil, m, []int32{0, 0, 0}) },
				func() { s.GroupDistances(make([]float64, 3), m, make([]float64, 8), []int32{0, 1, 2}) },
				func() { s.SumParts(make([]float64, 8), make([]float64, 4), m, []int32{0, 1, 0}) },
				func() { s.SquareParts(make([]float64, 12), make([]float64, 4), m, []int32{0, -1, 0}) },
			},
			"kernelops: matrix data are short": {func() {
				s.DotRows(v[20:24],
					Matrix{Data: v[:15], Rows: 4, Cols: 4, Stride: 4}, v[30:34])
			}},
		}
		for _, f := range reductions {
			calls[lengths] = append(calls[lengths], func() { f(s, v[20:22], m, v[30:34]) },
				func() { f(s, v[20:23], m, v[30:33]) })
			calls[overlaps] = append(calls[overlaps], func() { f(s, v[11:14], m, v[30:34]) },
				func() { f(s, v[30:33], m, v[32:36]) })
		}
		for want, list := range calls {
			for i, call := range list {
				for j := range v {
					v[j] = 1
				}
				if got := panicOf(call); got != want {
					t.Errorf("%s, call %d: panic %v, want %q", s.Name, i, got, want)
				}
				if slices.ContainsFunc(v, func(x float32) bool { return x != 1 }) {
					t.Errorf("%s, call %d of %q wrote", s.Name, i, want)
				}
			}
		}
	}
}

// TestVectorSetsComplete finds an operation that a set lacks.
func TestVectorSetsComplete(t *testing.T) {
	for _, s := range All() {
		ops := reflect.ValueOf(s.vectorOps)
		for i := range ops.NumField() {
			if ops.Field(i).IsNil() {
				t.Errorf("set %q lacks %s", s.Name, ops.Type().Field(i).Name)
			}
		}
	}
}
