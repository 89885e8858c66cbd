// Package compare finds where two jobs part: in what was asked for, in what their rounds found, in the first node that
// came out otherwise, in the numbers of their models, and in how well these do.
//
// Jobs compares the folders that two finished jobs left, as `gram diff` prints it. Answer adds what a cluster knows of
// the two, which may run still or have failed.
package compare
