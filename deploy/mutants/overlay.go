package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// overlay names, by the absolute path of each changed file, the file that a build takes in its place.
type overlay map[string]string

// put writes the text that takes the place of a file, to dir.
func (o overlay) put(dir, file string, text []byte) error {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	o[absolute] = filepath.Join(dir, filepath.Base(file))
	return os.WriteFile(o[absolute], text, 0o600)
}

// write writes the overlay to dir, and returns its file.
func (o overlay) write(dir string) (string, error) {
	list, err := json.Marshal(map[string]overlay{"Replace": o})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}
