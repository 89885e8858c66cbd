package logstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	snapshotFolder = "snapshots" // raft's names
	metaFile       = "meta.json"
	temporary      = ".tmp"
	// sumFile holds the SHA-256 of meta.json, which holds the checksum of the state but none of itself: an index or
	// a member's address that a flipped bit changed would be believed.
	sumFile = "meta.sum"
	// AsideFolder in the raft folder keeps snapshots that are damaged, for a person to look into.
	AsideFolder = "damaged"
)

// Snapshots is raft's own store of snapshots with a checksum of each one's description.
type Snapshots struct {
	inner *raft.FileSnapshotStore
	dir   string // the raft folder
}

var _ raft.SnapshotStore = (*Snapshots)(nil)

// OpenSnapshots opens the snapshots in the raft folder dir, of which it keeps that many.
func OpenSnapshots(dir string, keep int) (*Snapshots, error) {
	inner, err := raft.NewFileSnapshotStoreWithLogger(dir, keep, hclog.NewNullLogger())
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	return &Snapshots{inner: inner, dir: dir}, nil
}

// Snapshot is one as Check finds it.
type Snapshot struct {
	ID    string
	Index uint64
	Err   error // why it cannot be used; wraps ErrDamaged
}

// Check reads every snapshot whole and returns what it found, newest first; damaged ones whose index cannot be
// read come with index 0. A snapshot that a version without description sums left gets one.
func (s *Snapshots) Check() ([]Snapshot, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, snapshotFolder))
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var found []Snapshot
	for _, e := range entries {
		if !e.IsDir() || strings.HasSuffix(e.Name(), temporary) {
			continue
		}
		one := Snapshot{ID: e.Name()}
		if one.Err = s.check(&one); one.Err != nil && !errors.Is(one.Err, ErrDamaged) {
			return nil, one.Err
		}
		found = append(found, one)
	}
	slices.SortStableFunc(found, func(a, b Snapshot) int {
		return -compare(a, b)
	})
	return found, nil
}

func compare(a, b Snapshot) int {
	switch {
	case a.Index < b.Index:
		return -1
	case a.Index > b.Index:
		return 1
	}
	return strings.Compare(a.ID, b.ID)
}

func (s *Snapshots) check(one *Snapshot) error {
	var term, at, milliseconds uint64
	if _, err := fmt.Sscanf(one.ID, "%d-%d-%d", &term, &at, &milliseconds); err != nil {
		return damaged("snapshot %s has a strange name", one.ID)
	}
	one.Index = at
	meta, known, err := s.description(one.ID)
	if err != nil {
		return err
	}
	if meta.ID != one.ID || meta.Index != at || meta.Term != term {
		return damaged("snapshot %s is described as another, at entry %d of term %d", one.ID, meta.Index, meta.Term)
	}
	_, state, err := s.inner.Open(one.ID)
	if err != nil {
		return damaged("snapshot %s: %v", one.ID, err)
	}
	if err := state.Close(); err != nil {
		return err
	}
	if known {
		return nil
	}
	return s.seal(one.ID)
}

// description reads a snapshot's meta.json; known is false where no sum of it was kept.
func (s *Snapshots) description(id string) (meta raft.SnapshotMeta, known bool, err error) {
	folder := filepath.Join(s.dir, snapshotFolder, id)
	text, err := os.ReadFile(filepath.Join(folder, metaFile))
	if err != nil {
		return meta, false, damaged("snapshot %s: %v", id, err)
	}
	var full struct {
		raft.SnapshotMeta
		CRC []byte
	}
	if err := json.Unmarshal(text, &full); err != nil {
		return meta, false, damaged("snapshot %s: its description cannot be read: %v", id, err)
	}
	sum, err := os.ReadFile(filepath.Join(folder, sumFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		// raft writes descriptions as encoding/json does: a flipped name of a field shows as another text.
		if again, err := json.Marshal(full); err != nil || !bytes.Equal(append(again, '\n'), text) {
			return meta, false, damaged("snapshot %s: its description is not as raft writes one", id)
		}
		return full.SnapshotMeta, false, nil
	case err != nil:
		return meta, false, fmt.Errorf("read snapshot %s: %w", id, err)
	case string(sum) != digest(text):
		return meta, false, damaged("snapshot %s: its description does not have its checksum", id)
	}
	return full.SnapshotMeta, true, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]) + "\n"
}

// seal keeps the sum of a snapshot's description.
func (s *Snapshots) seal(id string) error {
	folder := filepath.Join(s.dir, snapshotFolder, id)
	text, err := os.ReadFile(filepath.Join(folder, metaFile))
	if err != nil {
		return fmt.Errorf("seal snapshot %s: %w", id, err)
	}
	file, err := os.OpenFile(filepath.Join(folder, sumFile+temporary), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("seal snapshot %s: %w", id, err)
	}
	_, err = file.WriteString(digest(text))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(folder, sumFile))
	}
	if err != nil {
		return fmt.Errorf("seal snapshot %s: %w", id, err)
	}
	parent, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("seal snapshot %s: %w", id, err)
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// PutAside moves a snapshot to AsideFolder, where raft does not look for any.
func (s *Snapshots) PutAside(id string) error {
	aside := filepath.Join(s.dir, AsideFolder)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return fmt.Errorf("put snapshot %s aside: %w", id, err)
	}
	target := filepath.Join(aside, id)
	if err := os.RemoveAll(target); err != nil {
		return fmt.Errorf("put snapshot %s aside: %w", id, err)
	}
	if err := os.Rename(filepath.Join(s.dir, snapshotFolder, id), target); err != nil {
		return fmt.Errorf("put snapshot %s aside: %w", id, err)
	}
	return nil
}

// List implements raft.SnapshotStore.
func (s *Snapshots) List() ([]*raft.SnapshotMeta, error) { return s.inner.List() }

// Open implements raft.SnapshotStore.
func (s *Snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	if _, _, err := s.description(id); err != nil {
		return nil, nil, err
	}
	return s.inner.Open(id)
}

// Create implements raft.SnapshotStore.
func (s *Snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, transport raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.inner.Create(version, index, term, configuration, configurationIndex, transport)
	if err != nil {
		return nil, err
	}
	return &sealing{SnapshotSink: sink, store: s}, nil
}

// sealing keeps the sum of the description once the snapshot is complete.
type sealing struct {
	raft.SnapshotSink
	store *Snapshots
	ended bool
}

// Close implements raft.SnapshotSink.
func (s *sealing) Close() error {
	if s.ended {
		return nil
	}
	s.ended = true
	if err := s.SnapshotSink.Close(); err != nil {
		return err
	}
	return s.store.seal(s.ID())
}

// Cancel implements raft.SnapshotSink.
func (s *sealing) Cancel() error {
	s.ended = true
	return s.SnapshotSink.Cancel()
}
