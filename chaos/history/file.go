package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Recorder writes a history to a file as it happens.
type Recorder struct {
	began time.Time

	mu   sync.Mutex
	file *os.File
	ops  []Operation
	err  error
}

// NewRecorder begins a history at name; its clock starts now.
func NewRecorder(name string) (*Recorder, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Recorder{began: time.Now(), file: file}, nil
}

// Now is the time of the history's clock.
func (r *Recorder) Now() time.Duration { return time.Since(r.began) }

// Add records an operation that has returned. Clients may call it at the same time.
func (r *Recorder) Add(op Operation) {
	line, err := json.Marshal(op)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	r.ops, r.err = append(r.ops, op), errors.Join(r.err, err)
}

// Operations returns what was recorded so far, sorted.
func (r *Recorder) Operations() []Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	ops := append([]Operation(nil), r.ops...)
	Sort(ops)
	return ops
}

// Close ends the file; it tells of every write that failed.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}

// Read reads a history that a Recorder wrote, sorted.
func Read(from io.Reader) ([]Operation, error) {
	var ops []Operation
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		var op Operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			return nil, fmt.Errorf("line %d of the history: %w", n, err)
		}
		ops = append(ops, op)
	}
	Sort(ops)
	return ops, lines.Err()
}
