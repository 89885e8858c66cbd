//go:build !race

package clustertest

// Raced reports that the race detector is on.
const Raced = false
