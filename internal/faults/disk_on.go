//go:build faults || seededbugs

package faults

import (
	"os"
	"syscall"
)

// diskVariable names a file.
const diskVariable = "GRAM_DISK_FAULT_FILE"

// Disk is how a write to the log fails: with EIO while the file exists that GRAM_DISK_FAULT_FILE names, else not.
func Disk() error {
	name := os.Getenv(diskVariable)
	if name == "" {
		return nil
	}
	if _, err := os.Stat(name); err != nil {
		return nil
	}
	return &os.PathError{Op: "write", Path: "log.db", Err: syscall.EIO}
}
