package lint_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/internal/lint"
)

// TestLicences reads the licences of all that is linked into gram.
func TestLicences(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}",
		"./cmd/gram")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if module, folder, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			folders[module] = folder
		}
	}
	if len(folders) < 20 {
		t.Fatalf("only %d modules are listed: %v", len(folders), folders)
	}
	found, err := lint.Licences(folders)
	if err != nil {
		t.Fatal(err)
	}
	reportAll(t, found)
}

func TestLicencesThatMayNotBeLinked(t *testing.T) {
	for name, c := range map[string]struct{ file, text, says string }{
		"AGPL":     {"LICENSE", "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3", "AGPL"},
		"GPL":      {"COPYING", "GNU GENERAL PUBLIC LICENSE", "GPL"},
		"LGPL":     {"COPYING.LESSER", "GNU LESSER\n  GENERAL PUBLIC LICENSE", "GPL"},
		"BUSL":     {"LICENSE.txt", "Business Source License 1.1", "BUSL"},
		"SSPL":     {"LICENSE.md", "Server Side Public License", "SSPL"},
		"nothing":  {"README", "free to use", "states no licence"},
		"unknown":  {"LICENSE", "all rights reserved", "states no licence"},
		"Apache":   {"LICENSE", "Apache License, Version 2.0", ""},
		"MIT":      {"LICENCE", "Permission is hereby granted, free of charge, to any person", ""},
		"with GPL": {"LICENSE", "Mozilla Public License Version 2.0 ... GNU General Public License", ""},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := lint.Licences(map[string]string{"example.com/m": folder})
		if err != nil || (c.says != "") != (len(found) == 1) || c.says != "" &&
			!strings.Contains(found[0].String(), c.says) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}
