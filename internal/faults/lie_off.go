//go:build !faults && !seededbugs

package faults

// Lie returns the bytes of a task's result; in this build they are always what was computed.
func Lie(encoded []byte) []byte { return encoded }
