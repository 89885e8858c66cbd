package nemesis

import (
	"context"
	"errors"
	"os"
	"time"
)

// jumps are how far a leader's clock goes wrong, by kind.
var jumps = map[Kind]time.Duration{
	ClockHour: time.Hour, ClockMonth: 31 * 24 * time.Hour, ClockDecade: 10 * 365 * 24 * time.Hour,
	ClockBehind: -48 * time.Hour,
}

// errBuild: the binary is one that nobody can disturb from outside.
var errBuild = errors.New("it takes a binary built with -tags faults")

// moveClock puts the leader's wall clock wrong until it is healed.
func (n *Nemesis) moveClock(ctx context.Context, f Fault) (func() error, error) {
	if !n.Cluster.Faults {
		return nil, errBuild
	}
	m, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, m.Now().ID)
	file := n.Cluster.ClockFile(m.Host)
	heal := func() error { return replaceFile(file, "0s") }
	return heal, replaceFile(file, jumps[f.Kind].String())
}

// replaceFile writes a small file at once: a reader sees the old text or the new.
func replaceFile(file, text string) error {
	next := file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// breakDisk lets every write to the leader's log fail until it is healed.
func (n *Nemesis) breakDisk(ctx context.Context, f Fault) (func() error, error) {
	if !n.Cluster.Faults {
		return nil, errBuild
	}
	m, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, m.Now().ID)
	file := n.Cluster.DiskFile(m.Host)
	heal := func() error { return os.Remove(file) }
	return heal, replaceFile(file, "EIO")
}

// lieShare is how often a lying worker's results are wrong.
const lieShare = "0.2"

// lie starts a worker again that gets some of its results wrong, until it is healed.
func (n *Nemesis) lie(f Fault) (func() error, error) {
	if !n.Cluster.Faults {
		return nil, errBuild
	}
	w := n.worker(f)
	n.Say("%v (%s)", f, w.Name)
	restart := func(env ...string) error {
		w.Kill()
		w.Disturb(env...)
		return w.Start()
	}
	return func() error { return restart() }, restart("GRAM_LIE=" + lieShare)
}
