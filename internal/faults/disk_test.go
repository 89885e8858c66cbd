package faults_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gram-compute/gram/internal/faults"
)

// Writes fail while the file is there, and only in a build with the tag.
func TestSeededDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "disk")
	t.Setenv("GRAM_DISK_FAULT_FILE", file)
	if err := faults.Disk(); err != nil {
		t.Errorf("without the file: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := faults.Disk(); errors.Is(err, syscall.EIO) != faults.Enabled {
		t.Errorf("with the file, hooks %v: %v", faults.Enabled, err)
	}
}
