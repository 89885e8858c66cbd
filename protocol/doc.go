// Package protocol holds the nouns and messages that cross a process boundary:
// the job spec and its canonical hash, faults with stable codes, and (in
// gramv1) the generated protobuf and Connect code. It imports nothing of ours.
package protocol
