// Package jobs is the contract between an algorithm and the cluster: Map over
// leaves, Merge along an ordered tree, Step from one round to the next. One
// folder per algorithm stands below it, and package all lists them.
//
// Everything an algorithm passes on is Arrays: named arrays whose encoding
// (safetensors) has one byte string per content. A type that arrays hold lists
// its fields once (Stored, Fields), for writing and for reading; what is read
// is refused where it is not what was written. MapReduce is a phase of one tree over
// such types, with their arrays left to it. Tasks computes the tasks of
// a job on arrays: it maps leaves, folds nodes along protocol.Tree, steps rounds,
// and counts skipped records beside the phases.
package jobs
