package fmath

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"
)

// fusedEnv tells a child that its build has fused multiply-add and is expected to use it.
const fusedEnv = "GRAM_FMATH_EXPECT_FUSED"

// TestFusing shows, in a build whose target fuses x*y + z, that it does so, and that
// the conversion prevents it. Without it the builds below could be compared for nothing.
func TestFusing(t *testing.T) {
	if os.Getenv(fusedEnv) == "" {
		t.Skipf("runs in the GOAMD64=v3 and arm64 builds, which set %s", fusedEnv)
	}
	x, y, z := 1+0x1p-30, 1-0x1p-30, -1.0 // x*y = 1 - 2^-60
	if got := bare(x, y, z); got != -0x1p-60 {
		t.Errorf("x*y + z = %v: this build does not fuse, so it proves nothing", got)
	}
	if got := kept(x, y, z); got != 0 {
		t.Errorf("float64(x*y) + z = %v, want 0: the conversion did not prevent fusing", got)
	}
}

//go:noinline
func bare(x, y, z float64) float64 { return x*y + z }

//go:noinline
func kept(x, y, z float64) float64 { return float64(x*y) + z }

// TestDigestWithoutCPUFMA reruns this binary as on a CPU without FMA: package math
// answers differently then, this package must not.
func TestDigestWithoutCPUFMA(t *testing.T) {
	inChild(t)
	t.Parallel()
	run(t, exec.Command(os.Args[0], "-test.run=^TestDigest$", "-test.v"),
		"GODEBUG=cpu.fma=off,cpu.avx2=off", digestEnv+"="+childInputs(10_000_000, testing.Short()))
}

// TestDigestGOAMD64v3 builds this test for x86-64-v3, where the compiler fuses.
// REQUIRE_GOAMD64_V3=1 makes a CPU or machine that cannot do it a failure.
func TestDigestGOAMD64v3(t *testing.T) {
	inChild(t)
	if !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT, cpuid.MOVBE, cpuid.F16C) {
		missing(t, "REQUIRE_GOAMD64_V3", "this CPU does not run x86-64-v3 code")
	}
	t.Parallel()
	bin := build(t, "REQUIRE_GOAMD64_V3", "GOARCH=amd64", "GOAMD64=v3")
	run(t, exec.Command(bin, "-test.run=^TestDigest$|^TestFusing$", "-test.v"),
		fusedEnv+"=1", digestEnv+"="+childInputs(10_000_000, testing.Short()))
}

// TestDigestArm64 builds this test for arm64 and runs it under qemu-aarch64, on the
// first million arguments: emulated floating point is slow (about 4 s for them).
// REQUIRE_QEMU=1 makes a missing emulator a failure.
func TestDigestArm64(t *testing.T) {
	inChild(t)
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		missing(t, "REQUIRE_QEMU", "qemu-aarch64 is not installed")
	}
	t.Parallel()
	bin := build(t, "REQUIRE_QEMU", "GOARCH=arm64")
	run(t, exec.Command(qemu, bin, "-test.run=^TestDigest$|^TestFusing$", "-test.v"),
		fusedEnv+"=1", digestEnv+"="+childInputs(1_000_000, testing.Short()))
}

// inChild skips a test that starts children when it is itself in one.
func inChild(t *testing.T) {
	t.Helper()
	if os.Getenv(digestEnv) != "" {
		t.Skip("this is the child process")
	}
}

// missing skips, or fails where the environment says that the machine must have it.
func missing(t *testing.T, require, what string) {
	t.Helper()
	if os.Getenv(require) != "" {
		t.Fatalf("%s, and %s is set", what, require)
	}
	t.Skipf("%s; set %s=1 to make this a failure", what, require)
}

func childInputs(n int, short bool) string { return strconv.Itoa(digestInputs(n, short)) }

// build compiles this package's tests for another target and returns the binary's path.
func build(t *testing.T, require string, env ...string) string {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		missing(t, require, "the go command is not on PATH")
	}
	bin := filepath.Join(t.TempDir(), "fmath.test")
	cmd := exec.Command(tool, "test", "-c", "-o", bin, ".")
	cmd.Env = append(os.Environ(), append(env, "CGO_ENABLED=0", "GOOS="+runtime.GOOS)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v with %v: %v\n%s", cmd, env, err, out)
	}
	return bin
}

// run demands that the child passes every test it was asked for and skips none.
func run(t *testing.T, cmd *exec.Cmd, env ...string) {
	t.Helper()
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v with %v: %v\n%s", cmd, env, err, out)
	}
	asked := strings.Count(cmd.Args[len(cmd.Args)-2], "^Test")
	if got := strings.Count(string(out), "--- PASS: Test"); got != asked {
		t.Fatalf("%v with %v passed %d tests, want %d\n%s", cmd, env, got, asked, out)
	}
}
