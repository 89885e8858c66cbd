// Package compare finds where two finished jobs part: in what was asked for, in the first node that came out otherwise,
// in the numbers of their models, and in how well these do.
package compare
