package peers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/internal/measure"
)

// answering starts a process that answers each request as the script's case says.
func answering(t *testing.T, cases string) *Process {
	t.Helper()
	folder := t.TempDir()
	bin := filepath.Join(folder, ".venv", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nwhile read -r verb rest; do case $verb in\ndescribe) echo '{\"numpy\": \"1.2\"}';;\n" +
		cases + "\nesac; done\n"
	if err := os.WriteFile(filepath.Join(bin, "python"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Start(folder, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPeersAnswerByLines(t *testing.T) {
	p := answering(t, "prepare) echo ok slow;;\nrun) echo ok 2000 1000 0.5;;\ndrop) echo ok;;")
	if p.Versions["numpy"] != "1.2" {
		t.Errorf("versions %v", p.Versions)
	}
	found, err := p.Prepare("xyt/1x1x1", 7)
	if err != nil || len(found) != 1 || found[0] != "slow" {
		t.Fatalf("contenders %v, %v", found, err)
	}
	want := measure.Sample{Wall: 2 * time.Microsecond, CPU: time.Microsecond, Times: 3, Checksum: 0.5}
	if got, err := p.Run(found[0], 3); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := p.Drop(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestPeersErrorsNameTheRequest(t *testing.T) {
	p := answering(t, "prepare) echo error MemoryError: no room;;\nrun) echo ok nonsense;;\ndrop) exit 3;;")
	if _, err := p.Prepare("xyt/1x1x1", 7); err == nil ||
		!strings.Contains(err.Error(), "prepare xyt/1x1x1 7: MemoryError: no room") {
		t.Errorf("error %v", err)
	}
	if _, err := p.Run("slow", 1); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v", err)
	}
	if err := p.Drop(); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("error %v", err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutPeersThereAreNoContenders(t *testing.T) {
	p, err := Start(t.TempDir(), 1, nil)
	if err != nil || p != nil {
		t.Fatalf("%v, %v", p, err)
	}
	if found, err := p.Prepare("xyt/1x1x1", 7); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	if err := p.Drop(); err != nil {
		t.Error(err)
	}
}

func TestOpenBLASIsToldItsWidestKernels(t *testing.T) {
	t.Setenv("OPENBLAS_CORETYPE", "")
	for want, flags := range map[string]string{
		"OPENBLAS_CORETYPE=SKYLAKEX": "avx2 fma avx512f avx512dq avx512bw avx512vl",
		"OPENBLAS_CORETYPE=HASWELL":  "avx2 fma avx512f",
	} {
		if got := Settings(1, strings.Fields(flags)); !slices.Contains(got, want) {
			t.Errorf("%s: %v", flags, got)
		}
	}
	t.Setenv("OPENBLAS_CORETYPE", "ZEN")
	if got := Settings(1, []string{"avx2", "fma"}); slices.Contains(got, "OPENBLAS_CORETYPE=HASWELL") {
		t.Errorf("what the user has set was overruled: %v", got)
	}
}
