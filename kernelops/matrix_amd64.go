//go:build !purego

package kernelops

import "github.com/gram-compute/gram/asm"

// matrixAVX2 and matrixAVX512 are the matrix-shaped halves of the sets.
var (
	matrixAVX2 = &matrixSet{
		lanes: 8,
		panels: []panelKernel{
			{6, 16, 0, asm.Multiply6x16AVX2},
			{12, 8, 0, asm.Multiply12x8AVX2},
		},
		interleave8: asm.Interleave8AVX2,
		sqNorms8:    asm.SqNorms8FMA,
		epilogues: [...]epilogue{nil, asm.SqDistsAVX2, asm.PolynomialsAVX2, asm.GaussiansAVX2,
			asm.SigmoidsAVX2},
		ofLanes:    asm.LowestOfLanesAVX2,
		lowestTwo:  asm.LowestTwoAVX2,
		runnersUp:  asm.RunnersUpAVX2,
		notBeyond:  asm.NotBeyondAVX2,
		storeFence: asm.StoreFence,
	}
	matrixAVX512 = &matrixSet{
		lanes: 16,
		panels: []panelKernel{
			{8, 48, 24, asm.Multiply8x48AVX512},
			{12, 32, 0, asm.Multiply12x32AVX512},
			{12, 16, 0, asm.Multiply12x16AVX512},
		},
		interleave8: asm.Interleave8AVX2,
		sqNorms8:    asm.SqNorms8FMA,
		epilogues: [...]epilogue{nil, asm.SqDistsAVX512, asm.PolynomialsAVX512,
			asm.GaussiansAVX512, asm.SigmoidsAVX512},
		ofLanes:    asm.LowestOfLanesAVX512,
		lowestTwo:  asm.LowestTwoAVX512,
		runnersUp:  asm.RunnersUpAVX512,
		notBeyond:  asm.NotBeyondAVX512,
		storeFence: asm.StoreFence,
	}
)
