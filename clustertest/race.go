//go:build race

package clustertest

// Raced reports that the race detector is on. It cannot see into processes that tests start, whose binary is built
// without it. Such tests are skipped where they would start one; make test runs them.
const Raced = true
