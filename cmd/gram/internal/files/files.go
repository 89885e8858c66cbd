// Package files writes files that appear whole or not at all.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// Write writes beside a file and then takes its place.
func Write(path string, write func(io.Writer) error) error {
	return WriteFile(path, func(f *os.File) error { return write(f) })
}

// WriteFile is writeWhole for what is not written from front to back.
func WriteFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if errors.Is(err, fs.ErrNotExist) {
		return &exit.Failure{Code: exit.NotFound,
			What: fmt.Sprintf("%s: there is no folder %s", path, filepath.Dir(path)), Cause: err}
	}
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) // it is only a half
	}
	return err
}

// WriteNew makes a file for its owner only; it replaces none.
func WriteNew(name, text string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &exit.Failure{Code: exit.Conflict, What: name + " is there already",
			Hint: "Choose another name, or remove it."}
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Sync(), file.Close())
}
