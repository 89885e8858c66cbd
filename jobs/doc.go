// Package jobs is the contract between an algorithm and the cluster: Map over
// leaves, Merge along an ordered tree, Step from one round to the next. Each
// algorithm has a folder below this one, and package all lists them.
//
// Algorithms pass data on as Arrays: named arrays whose encoding (safetensors)
// has one byte string per content. A type that is stored in arrays lists its
// fields once (Stored, Fields), for both writing and reading; reading rejects
// arrays that do not fit the list. MapReduce is a phase over such types, and
// converts them to and from arrays. Tasks computes the tasks of a job on arrays:
// it maps leaves, folds nodes along protocol.Tree, steps rounds, and counts
// skipped records beside the phases.
package jobs
