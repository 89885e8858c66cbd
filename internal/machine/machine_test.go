package machine

import (
	"runtime"
	"slices"
	"testing"
)

func TestSlugHoldsNameModelAndCores(t *testing.T) {
	for want, m := range map[string]Machine{
		"intel-xeon-6-143-2c": {CPU: "Intel(R) Xeon(R) Processor", Model: "family 6 model 143 stepping 8", Cores: 2},
		"intel-xeon-6-106-2c": {CPU: "Intel(R) Xeon(R) Processor @ 2.80GHz", Model: "family 6 model 106",
			Cores: 2},
		"amd-epyc-9b45-64c": {CPU: "AMD EPYC 9B45", Cores: 64},
		"arm64-8c":          {CPU: "arm64", Cores: 8},
	} {
		if got := m.Slug(); got != want {
			t.Errorf("slug of %q: %q, want %q", m.CPU, got, want)
		}
	}
}

func TestFlagsKeepThoseThatKernelsChooseBy(t *testing.T) {
	got := flags("fpu sse sse4_2 avx avx2 avx512f amx_tile fma rdtscp bmi2")
	want := []string{"sse4_2", "avx", "avx2", "avx512f", "amx_tile", "fma", "bmi2"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDescribeKnowsWhatEveryPlatformTells(t *testing.T) {
	m := Describe()
	if m.CPU == "" || m.Cores < 1 || m.Go != runtime.Version() {
		t.Errorf("%+v", m)
	}
	for _, row := range m.Rows() {
		if row[1] == "" {
			t.Errorf("row %q is empty", row[0])
		}
	}
}
