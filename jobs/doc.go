// Package jobs is the contract between an algorithm and the cluster: Map over
// leaves, Merge along an ordered tree, Step from one round to the next. One
// folder per algorithm stands below it.
package jobs
