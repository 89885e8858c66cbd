// Package jobs is the contract between an algorithm and the cluster: Map over leaves, Merge along an ordered tree, Step
// from one round to the next. Each algorithm has a folder in kinds, made of what is in learn; package all lists them.
// Package run computes the tasks of a job.
//
// Algorithms pass data on as Arrays: named arrays whose encoding (safetensors) has one byte string per content. A type
// that is stored in arrays lists its fields once (Stored, Fields), for both writing and reading; reading rejects arrays
// that do not fit the list. MapReduce is a phase over such types, and converts them to and from arrays.
package jobs
