// Package life ends the tasks of a process in order: first it tells them to end, then it waits for them.
package life

import "sync"

// Tasks are what a coordinator does besides answering calls.
type Tasks struct {
	stopping chan struct{} // closed by Stop
	running  sync.WaitGroup

	mu   sync.Mutex
	over bool // no task may begin any more
}

// New returns a life that has not begun to end.
func New() *Tasks { return &Tasks{stopping: make(chan struct{})} }

// Go runs a task that Wait waits for; false means that it is too late for one.
func (t *Tasks) Go(task func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.running.Go(task)
	}
	return !t.over
}

// Stopping is closed when Stop is called.
func (t *Tasks) Stopping() <-chan struct{} { return t.stopping }

// Stop ends what waits on Stopping. It is called once.
func (t *Tasks) Stop() { close(t.stopping) }

// Wait lets no other task begin and returns when all have ended.
func (t *Tasks) Wait() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.running.Wait()
}
