// Package verify checks a finished job by what it left (package proof), with read access to the outputs and the input
// and no cluster: it compares digests, repeats parts of the job, and says what follows.
//
// Files come first: each must have the digest that the proof names, and the files must agree with each other. Then
// leaves are drawn and repeated; merges and steps are repeated from the partials where those are kept, and within whole
// rounds else. What a leaf or step emits is compared with the file beside the model. Nothing is written.
//
// The work goes round by round, because a state is large, and what a phase carries from one round to the next is not
// kept: a leaf that wants it is repeated in all earlier rounds of its phase. A round is repeated by as many goroutines
// as there are CPUs. Memory holds a state, a partial for each of them and one for each level of a tree. Carries and
// roots beyond 256 MiB go to temporary files.
package verify
