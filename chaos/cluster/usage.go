package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Usage is what a process takes of the machine.
type Usage struct {
	Memory int64 // bytes that are its own: no pages of files
	Files  int   // open descriptors
	Age    time.Duration
}

// Usage asks the kernel what the process takes now; not known where it does not run, or where there is no /proc.
func (p *Process) Usage() (u Usage, known bool) {
	if !p.Running() {
		return u, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Join("/proc", strconv.Itoa(p.now.PID()))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return u, false
	}
	if u.Memory, err = anonymous(status); err != nil {
		return u, false
	}
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return u, false
	}
	u.Files, u.Age = len(files), time.Since(p.since)
	return u, true
}

// anonymous finds RssAnon, in KiB, in a process's status.
func anonymous(status []byte) (int64, error) {
	for line := range bytes.Lines(status) {
		if fields := bytes.Fields(line); len(fields) > 1 && string(fields[0]) == "RssAnon:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("RssAnon: %w", err)
			}
			return kib << 10, nil
		}
	}
	return 0, errors.New("no RssAnon")
}
