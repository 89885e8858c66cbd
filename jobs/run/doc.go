// Package run computes the tasks of a job on arrays: it maps leaves, folds nodes along protocol.Tree and steps rounds.
// Beside the phases, which see none of it, it counts the records that were skipped and notes what reading noticed.
package run
