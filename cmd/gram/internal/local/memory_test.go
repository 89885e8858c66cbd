package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/worker"
)

func TestMachineMemory(t *testing.T) {
	const mib = 1 << 20
	meminfo := "MemTotal:       8192000 kB\nMemFree: 1 kB\nMemAvailable:    2097152 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known":             {nil, worker.DefaultMemory},
		"half of what is available": {map[string]string{"proc/meminfo": meminfo}, 1024 * mib},
		"a container": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n"}, 384 * mib},
		"a limit above": {map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "536870912\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 384 * mib},
		"a limit beyond what is there": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "99999999999\n"}, 1024 * mib},
		"version 1": {map[string]string{"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n"}, 384 * mib},
		"nonsense": {map[string]string{"proc/meminfo": "MemAvailable: x kB\n", "proc/self/cgroup": "what\n0::/../..\n",
			"sys/fs/cgroup/memory.max": "-1\n"}, worker.DefaultMemory},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
				os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got := machineMemory(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestMemoryFlag(t *testing.T) {
	if got, err := MemoryBudget("1.5GiB", 4); err != nil || got != 3<<29 {
		t.Error(got, err)
	}
	one, err := MemoryBudget("", 1)
	four, err4 := MemoryBudget("", 4)
	if err != nil || err4 != nil || four < minMemory || one < four {
		t.Error(one, four, err, err4)
	}
	for _, text := range []string{"0", "127MiB", "-1GiB", "much"} {
		var f *exit.Failure
		if _, err := MemoryBudget(text, 1); !errors.As(err, &f) || f.Code != exit.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
}
