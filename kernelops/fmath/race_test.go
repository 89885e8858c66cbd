//go:build race

package fmath

// raceEnabled and defaultSamples keep the suite short where the detector slows big.Float tenfold.
const (
	raceEnabled    = true
	defaultSamples = 2000
)
