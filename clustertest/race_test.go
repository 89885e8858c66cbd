//go:build race

package clustertest_test

// raceEnabled leaves out the long tests: they start processes, which are built as they are released, so that the
// detector sees none of them. They run without it.
const raceEnabled = true
