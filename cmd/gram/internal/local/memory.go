package local

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
)

// MemoryUsage is the help text of --memory.
const MemoryUsage = "`size` of memory to plan with, such as 2GiB (default 3/4 of a container's limit, or 1/2 of " +
	"what is available)"

// minMemory is less than what a worker needs for itself and one task.
const minMemory = 128 << 20

// programMemory is what the pages of the program itself take, which Go's runtime does not count.
const programMemory = 24 << 20

// MemoryBudget reads --memory; empty means what fits this machine, divided by the number of workers.
func MemoryBudget(text string, workers int) (int64, error) {
	if text == "" {
		return max(machineMemory("/")/int64(max(workers, 1)), minMemory), nil
	}
	size, err := protocol.ParseByteSize(text)
	if err != nil || size < minMemory {
		return 0, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--memory %q is not a size of at least %v", text,
			protocol.ByteSize(minMemory)), Cause: err}
	}
	return int64(size), nil
}

// limitMemory holds this process to the budget as far as Go's runtime can: it collects
// garbage more often when memory comes near the limit. A lower GOMEMLIMIT stays.
func limitMemory(budget int64) {
	if set, limit := debug.SetMemoryLimit(-1), budget-programMemory; set > limit {
		debug.SetMemoryLimit(limit)
	}
}

// machineMemory is how much of this machine a worker may plan with, as Linux tells below
// root; elsewhere it is worker.DefaultMemory.
func machineMemory(root string) int64 {
	budget := int64(math.MaxInt64)
	if available := memAvailable(root); available > 0 {
		budget = available / 2
	}
	if limit := cgroupLimit(root); limit > 0 {
		budget = min(budget, limit/4*3)
	}
	if budget == math.MaxInt64 {
		return worker.DefaultMemory
	}
	return budget
}

// memAvailable reads /proc/meminfo; 0 means not known.
func memAvailable(root string) int64 {
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemAvailable:" && fields[2] == "kB" {
			kib, err := strconv.ParseInt(fields[1], 10, 40)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// cgroupLimit is the lowest memory limit of the control groups that hold this process, of
// either version; 0 means none. A container sees its own group at the mount's top.
func cgroupLimit(root string) (lowest int64) {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if fields[0] != "0" {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if fields[0] != "0" && fields[1] != "memory" {
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			if limit := readLimit(filepath.Join(root, mount, group, file)); limit > 0 &&
				(lowest == 0 || limit < lowest) {
				lowest = limit
			}
			if group == "/" {
				break
			}
		}
	}
	return lowest
}

// readLimit reads one limit; 0 means none.
func readLimit(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit < 0 || limit > 1<<60 { // "max", or the number that version 1 has for it
		return 0
	}
	return limit
}
