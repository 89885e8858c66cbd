// Package proofs writes and finds what a worker keeps of a job's proof (package proof) beside the model: partials and
// records as they are made, and at the end the list of all rounds.
package proofs
