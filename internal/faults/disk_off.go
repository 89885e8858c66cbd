//go:build !faults && !seededbugs

package faults

// Disk is how a write to the log fails; in this build it is left to the disk.
func Disk() error { return nil }
