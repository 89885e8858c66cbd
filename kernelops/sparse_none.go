//go:build !amd64 || purego

package kernelops

// sparseBlocks takes nothing: there is no set but the generic one.
func sparseBlocks(*[4]float32, []int32, []float32, []float32, int, int) int { return 0 }

func mixedSparseBlocks(*[mixedLanes]float64, []int32, []float32, []float64, int, int) int { return 0 }
