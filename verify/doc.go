// Package verify checks a finished job from what it left beside its model (package proof) and from its input. It needs no
// cluster: read access and any CPU will do.
//
// First every digest is compared: of the files of the proof with its manifest, of what they say with each other. Then
// parts of the job are computed again and compared with the digests of their nodes:
//
//   - a sample of leaves, or all;
//   - rounds as a whole, leaves, merges and step, where they are drawn or all are asked for;
//   - every merge and step whose inputs are kept.
//
// A sample is drawn by the caller's number, which must not follow from spec or job: a trainer could foresee it. What is
// false is named where it begins: a leaf before what it was merged into, a round before those after it.
package verify
