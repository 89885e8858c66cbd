//go:build !purego

package kernelops

import (
	"github.com/klauspost/cpuid/v2"

	"github.com/gram-compute/gram/asm"
)

func vectorAVX2() vectorOps {
	return vectorOps{
		dot:             asm.DotAVX2,
		dotEach:         asm.DotEachAVX2,
		dotRows:         asm.DotRowsAVX2,
		sqEuclideanRows: asm.SqEuclideanRowsAVX2,
		l1Rows:          asm.L1RowsAVX2,
		lInfRows:        asm.LInfRowsAVX2,
		axpby:           asm.AxpbyAVX2,
		axpyRows:        asm.AxpyRowsAVX2,
		accumulateRows:  asm.AccumulateRowsAVX2,
		groupDistances:  groupDistancesAVX2,
		hammingRows:     asm.HammingRowsAVX2,
		sumParts:        asm.SumPartsAVX2,
		squareParts:     asm.SquarePartsAVX2,
		columnRanges:    asm.ColumnRangesAVX2,
	}
}

// vectorAVX512 needs one instruction beyond the set for bits, which the first CPUs with AVX-512 lack.
func vectorAVX512(has supports) vectorOps {
	ops := vectorOps{
		dot:             asm.DotAVX512,
		dotEach:         asm.DotEachAVX512,
		dotRows:         asm.DotRowsAVX512,
		sqEuclideanRows: asm.SqEuclideanRowsAVX512,
		l1Rows:          asm.L1RowsAVX512,
		lInfRows:        asm.LInfRowsAVX512,
		axpby:           asm.AxpbyAVX512,
		axpyRows:        asm.AxpyRowsAVX512,
		accumulateRows:  asm.AccumulateRowsAVX512,
		groupDistances:  groupDistancesAVX2,
		hammingRows:     asm.HammingRowsAVX2,
		sumParts:        asm.SumPartsAVX512,
		squareParts:     asm.SquarePartsAVX512,
		columnRanges:    asm.ColumnRangesAVX512,
	}
	if has(cpuid.AVX512VPOPCNTDQ) {
		ops.hammingRows = asm.HammingRowsAVX512
	}
	return ops
}

// groupDistancesAVX2 takes rows in fours, as far as there are fours.
func groupDistancesAVX2(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32) {
	fours := len(groups) &^ 3
	if fours > 0 {
		asm.GroupDistances4AVX2(dst, cols, x, stride, centers, groups[:fours])
	}
	if fours < len(groups) {
		asm.GroupDistancesAVX2(dst[fours:], cols, x[fours*stride:], stride, centers, groups[fours:])
	}
}

func mixedAVX2() Mixed {
	return Mixed{vectors: true, dot: asm.MixedDotAVX2, square: asm.MixedSquareAVX2, axpy: asm.MixedAxpyAVX2,
		addScaledRows: asm.AddScaledRowsAVX2, products: productAVX2(), exps: expsAVX2}
}

func mixedAVX512() Mixed {
	return Mixed{vectors: true, dot: asm.MixedDotAVX512, square: asm.MixedSquareAVX512, axpy: asm.MixedAxpyAVX512,
		addScaledRows: asm.AddScaledRowsAVX512, products: productAVX512(), exps: expsAVX512}
}
