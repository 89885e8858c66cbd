package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/chaos/cluster"
)

// damageLocal stops a follower and damages a file of its data directory. Started again it must heal by itself or end
// with a word about its disk; then another member takes its place, as the operator's guide says.
func (n *Nemesis) damageLocal(ctx context.Context, f Fault) (func() error, error) {
	m, err := n.follower(ctx, f)
	if err != nil {
		return nil, err
	}
	life := m.Now()
	life.Kill()
	file, err := damage(f, life.Data)
	if err != nil {
		return nil, errors.Join(err, life.Start())
	}
	n.Say("%v (%s: %s)", f, life.ID, filepath.Base(file))
	return func() error { return n.restartDamaged(context.WithoutCancel(ctx), m) }, nil
}

// damagedLimit is how long a member may take to find that its disk is damaged.
const damagedLimit = 20 * time.Second

// restartDamaged starts a member, and replaces it where it ends by itself.
func (n *Nemesis) restartDamaged(ctx context.Context, m *cluster.Member) error {
	life := m.Now()
	life.MayEnd(true) // a damaged disk is a reason
	defer life.MayEnd(false)
	if err := life.Start(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, damagedLimit)
	defer cancel()
	for life.Running() {
		if _, _, err := n.Cluster.Health(limited, m); err == nil {
			n.Say("%s serves again", life.ID)
			return nil
		}
		if !wait(limited, 100*time.Millisecond) {
			return fmt.Errorf("%s neither serves nor ends %v after its disk was damaged", life.ID, damagedLimit)
		}
	}
	n.Say("%s ended: %s", life.ID, life.LastWords())
	return n.Cluster.Replace(ctx, m)
}

// damage changes a file of a data directory that belongs to no running process.
func damage(f Fault, data string) (file string, err error) {
	switch f.Kind {
	case FlipSnapshot:
		file, err = newest(filepath.Join(data, "raft", "snapshots", "*", "state.bin"))
	default:
		file, err = newest(filepath.Join(data, "raft", "log.db"))
	}
	if err != nil {
		return "", err
	}
	if f.Kind == TearLog {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		return file, os.Truncate(file, max(0, info.Size()-int64(1+f.Pick%8192)))
	}
	return file, flip(file, f.Pick)
}

// newest returns the file that was written last.
func newest(pattern string) (found string, err error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	var at time.Time
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		if !info.ModTime().Before(at) {
			found, at = file, info.ModTime()
		}
	}
	if found == "" {
		return "", fmt.Errorf("%w: there is no %s", errNobody, filepath.Base(pattern))
	}
	return found, nil
}

// flip changes one bit where a file holds anything; most of a database's file is empty.
func flip(file string, pick int) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return errNobody
	}
	rng := rand.New(rand.NewPCG(uint64(pick), 0x46))
	at := rng.IntN(len(data))
	for range len(data) {
		if data[at] != 0 {
			break
		}
		at = (at + 1) % len(data)
	}
	out, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = out.WriteAt([]byte{data[at] ^ 1<<rng.IntN(8)}, int64(at))
	return errors.Join(err, out.Close())
}

// damageObject flips a bit of a result of a running job where the store keeps it, or removes it.
func (n *Nemesis) damageObject(ctx context.Context, f Fault) (func() error, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	file := ""
	for file == "" { // jobs are short: there may be none at work at this instant
		var err error
		if file, err = n.fresh(); err != nil {
			return nil, err
		}
		if file == "" && !wait(ctx, 20*time.Millisecond) {
			return nil, fmt.Errorf("%w: no task's result was written for five seconds", errNobody)
		}
	}
	key, err := filepath.Rel(n.Cluster.BucketFolder(), file)
	if err != nil {
		return nil, err
	}
	n.noteObject(key) // the checker knows then that it was not the cluster
	n.Say("%v (%s)", f, key)
	if f.Kind == LoseObject {
		err = os.Remove(file)
	} else {
		err = flip(file, f.Pick)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: it was swept meanwhile", errNobody)
	}
	return func() error { return nil }, err
}

// fresh returns the newest result of a task that was written within the last second, or "" without one.
func (n *Nemesis) fresh() (string, error) {
	var found string
	var at time.Time
	root := filepath.Join(n.Cluster.BucketFolder(), "cluster", "jobs")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // folders come and go while jobs run
		}
		digest, _, ok := strings.Cut(entry.Name(), "-")
		info, err := entry.Info()
		if !ok || len(digest) != 64 || err != nil {
			return nil
		}
		if info.ModTime().After(at) && time.Since(info.ModTime()) < time.Second {
			found, at = path, info.ModTime()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}
