//go:build race

package clustertest

// Raced reports that the race detector is on. It sees none of the processes that tests start, which are built as they
// are released, so tests end where they would start one. They run without it.
const Raced = true
