//go:build !race

package fmath

const (
	raceEnabled    = false
	defaultSamples = 20000
)
