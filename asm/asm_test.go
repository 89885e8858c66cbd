package asm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerated runs the generator again: the files checked in must be what it writes.
// It needs the generator's modules, so it is skipped where they cannot be had;
// REQUIRE_GENERATE=1 makes that a failure.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "_gen").CombinedOutput(); err != nil {
		if os.Getenv("REQUIRE_GENERATE") != "" {
			t.Fatalf("modules of _gen: %v\n%s", err, out)
		}
		t.Skipf("modules of _gen: %v\n%s", err, out)
	}
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly: %v", err)
	}
	for _, file := range files {
		family := strings.TrimSuffix(file, "_amd64.s")
		t.Run(family, func(t *testing.T) { regenerate(t, family) })
	}
}

func regenerate(t *testing.T, family string) {
	dir := t.TempDir()
	code, stubs := filepath.Join(dir, family+"_amd64.s"), filepath.Join(dir, family+"_amd64.go")
	cmd := exec.Command("go", "run", "-C", "_gen", ".", "-family", family, "-pkg", "asm", "-out", code, "-stubs", stubs)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	for _, path := range []string{code, stubs} {
		want, got := body(t, path), body(t, filepath.Base(path))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run go generate ./asm", filepath.Base(path))
		}
	}
}

// body is a generated file without its first line, which holds the command.
func body(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok || len(rest) == 0 {
		t.Fatalf("%s holds no code", path)
	}
	return rest
}
