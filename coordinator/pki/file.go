package pki

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile writes a small file whole or not at all, with exactly these permissions,
// also when the machine stops in between.
func WriteFile(name string, data []byte, mode os.FileMode) error {
	dir := filepath.Dir(name)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
