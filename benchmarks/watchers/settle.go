package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// settle waits until the leader has written the reports of the jobs that were cancelled to fill the list, or has
// written none for two minutes: that is its work, and not that of pages.
func (m *member) settle(ctx context.Context, want int) error {
	const look, still = 5 * time.Second, 2 * time.Minute
	count, grew := -1, time.Now()
	for count < want && time.Since(grew) < still {
		now, err := m.reports()
		if err != nil {
			return err
		}
		if now > count {
			count, grew = now, time.Now()
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
	fmt.Printf("%d of %d reports of cancelled jobs are written\n", count, want)
	return nil
}

// reports counts those that are in the store.
func (m *member) reports() (count int, err error) {
	jobs := filepath.Join(strings.TrimPrefix(m.store, "file://"), "jobs")
	err = filepath.WalkDir(jobs, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, "-report.html") {
			count++
		}
		if errors.Is(err, fs.ErrNotExist) { // a sweep takes what nobody needs
			return nil
		}
		return err
	})
	return count, err
}
