// Command plant writes the bugs of package seeded into copies of the files that they change, for builds with Go's flag
// -overlay. The sources themselves hold no trace of a bug.
//
//	go run ./internal/seeded/plant bin/seeded
//	go build -tags=seededbugs -overlay=bin/seeded/overlay.json ./cmd/gram
//
// It prints the two flags, each on a line. Each bug is a file of bugs/: see parse.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// copies is where the changed files are. The underscore hides them from ./... of the go command.
const copies = "_copies"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/seeded/plant FOLDER")
		os.Exit(2)
	}
	overlay, err := write(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(1)
	}
	fmt.Printf("-tags=seededbugs\n-overlay=%s\n", overlay)
}

// write puts the changed files and overlay.json into a folder, and returns the path of overlay.json.
func write(folder string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	changes, err := readAll()
	if err != nil {
		return "", err
	}
	planted, err := plant(root, changes)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for file, text := range planted {
		to, err := filepath.Abs(filepath.Join(folder, copies, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		if err := writeFile(to, []byte(text)); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
	}
	list, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	return overlay, writeFile(overlay, list)
}

// writeFile makes the file's folder too.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// moduleRoot is the folder of the module's go.mod.
func moduleRoot() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the module's folder: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(mod))), nil
}
