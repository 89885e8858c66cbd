package estimate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Whether outputs can be written.
const (
	Writable  = "yes"
	Refused   = "no"
	Unchecked = "unchecked"
)

// Output is where the outputs of a job go.
type Output struct {
	URI      string `json:"uri,omitempty"`
	Writable string `json:"writable"` // Writable, Refused or Unchecked
	Says     string `json:"says"`
}

// outputOf tries to write where a spec wants its outputs, if that is a folder of this machine.
func outputOf(uri string) Output {
	o := Output{URI: uri, Writable: Unchecked}
	path, isFile := strings.CutPrefix(uri, "file://")
	switch {
	case uri == "":
		o.Says = "the spec names no place: `gram run` writes below ./models, a cluster into its own store"
	case !isFile:
		o.Says = "not checked: only a write would tell, and plan writes nothing there"
	default:
		at, err := tryFolder(filepath.FromSlash(path))
		if err != nil {
			o.Writable, o.Says = Refused, err.Error()
			break
		}
		o.Writable, o.Says = Writable, "a file could be written and removed here; on a cluster its workers write, which "+
			"may differ"
		if at != "" {
			o.Says = fmt.Sprintf("the folder is not there yet; a file could be written and removed in %s", at)
		}
	}
	return o
}

// tryFolder writes an empty file into a folder, or into the nearest one above it that is there, and removes it. at is
// that other folder.
func tryFolder(folder string) (at string, err error) {
	folder = filepath.Clean(folder)
	for there := folder; ; there = filepath.Dir(there) {
		info, err := os.Stat(there)
		switch {
		case errors.Is(err, os.ErrNotExist) && there != filepath.Dir(there):
			continue
		case err != nil:
			return "", err
		case !info.IsDir():
			return "", fmt.Errorf("%s is not a folder", there)
		}
		if there != folder {
			at = there
		}
		return at, tryFile(there)
	}
}

func tryFile(folder string) error {
	f, err := os.CreateTemp(folder, ".gram-probe-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
