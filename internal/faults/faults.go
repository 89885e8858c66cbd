// Package faults lets a test disturb one process from outside where nothing else can: the wall clock of a
// Go program cannot be moved without moving the machine's.
//
// It works only in a build with -tags faults (or seededbugs). In every other build Enabled is constantly
// false, and the compiler leaves the rest out.
package faults
