package local

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/worker"
)

// lifeSign is a file whose time says when a worker was last seen at work.
type lifeSign struct {
	path string
	log  *slog.Logger
}

// ShowLife has a worker touch the file, if it is to have one, until end is called.
func ShowLife(path string, cfg *worker.Config) (end func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	sign, err := NewLifeSign(path, cfg.Logger)
	if err != nil {
		return nil, err
	}
	cfg.Alive = sign.Touch
	return sign.End, nil
}

// NewLifeSign makes the file, so that a path that cannot be written is told at once.
func NewLifeSign(path string, log *slog.Logger) (*lifeSign, error) {
	s := &lifeSign{path: path, log: log}
	if err := s.write(); err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--health-file %s", path), Why: err}
	}
	return s, nil
}

func (s *lifeSign) write() error {
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	now := time.Now()
	return os.Chtimes(s.path, now, now)
}

func (s *lifeSign) Touch() {
	if err := s.write(); err != nil {
		s.log.Warn("the health file cannot be touched; probes will take this worker for dead", "error", err)
	}
}

// End removes the file: nobody lives here any more.
func (s *lifeSign) End() {
	if err := os.Remove(s.path); err != nil {
		s.log.Warn("the health file stays", "error", err)
	}
}
