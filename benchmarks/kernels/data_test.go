package main

import (
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/internal/limits"
)

// The first numbers of stream 0 of seed 7, worked out by data.py: both sides must make the same data.
func TestNormalsAreThoseOfThePeers(t *testing.T) {
	want := []float32{0.444549560546875, -0.354705810546875, 1.661346435546875, -0.974090576171875, 1.131561279296875,
		-1.20123291015625}
	e := env{seed: 7, memory: new(limits.Memory)}
	if got := e.normals(0, len(want)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNormalsHaveMeanZeroAndVarianceFourThirds(t *testing.T) {
	const n = 1 << 20
	x := env{seed: 1, memory: new(limits.Memory)}.normals(2, n)
	mean, variance := total(x)/n, squares(x)/n
	if math.Abs(mean) > 0.005 || math.Abs(variance-4.0/3) > 0.01 {
		t.Errorf("mean %g, mean square %g", mean, variance)
	}
}

func TestColumnsAscendWithinTheirStrips(t *testing.T) {
	const rows, filled, width = 100, 7, 52
	at := env{seed: 3}.columns(0, rows, filled, width)
	for i, c := range at {
		strip := int32(i % filled * (width / filled))
		if c < strip || c >= strip+width/filled {
			t.Fatalf("row %d: column %d is outside its strip from %d", i/filled, c, strip)
		}
	}
}
