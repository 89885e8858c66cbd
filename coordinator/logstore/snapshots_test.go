package logstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// takeSnapshot leaves one at an index.
func takeSnapshot(t *testing.T, s *Snapshots, index uint64, state string) string {
	t.Helper()
	_, transport := raft.NewInmemTransport("a")
	members := raft.Configuration{Servers: []raft.Server{{ID: "c1", Address: "10.0.0.1:7481"},
		{ID: "c2", Address: "10.0.0.2:7481"}}}
	sink, err := s.Create(raft.SnapshotVersionMax, index, 3, members, 1, transport)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sink.Write([]byte(state)); err == nil {
		err = errors.Join(sink.Close(), sink.Close()) // raft closes twice
	}
	if err != nil {
		t.Fatal(err)
	}
	return sink.ID()
}

// One flipped bit in a snapshot's state, description or the description's sum is found, in 100 of 100.
func TestFlippedBitOfASnapshot(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenSnapshots(dir, 3)
	if err != nil {
		t.Fatal(err)
	}
	id := takeSnapshot(t, s, 70, strings.Repeat("the state ", 300))
	rng := rand.New(rand.NewPCG(7, 8))
	for n := range 100 {
		file := filepath.Join(dir, snapshotFolder, id, []string{"state.bin", metaFile, sumFile}[n%3])
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at, bit := rng.IntN(len(text)), byte(1)<<rng.IntN(8)
		text[at] ^= bit
		writeFile(t, file, text)
		found, err := s.Check()
		if err != nil || len(found) != 1 || !errors.Is(found[0].Err, ErrDamaged) || found[0].Index != 70 {
			t.Errorf("%s, byte %d: %+v, %v", filepath.Base(file), at, found, err)
		}
		text[at] ^= bit
		writeFile(t, file, text)
	}
	if found, err := s.Check(); err != nil || len(found) != 1 || found[0].Err != nil {
		t.Errorf("whole again: %+v, %v", found, err)
	}
}

func writeFile(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A snapshot of a version without sums is read, and has one from then on; in its description a flipped bit that
// another name of a field, or another place, comes of is found all the same.
func TestSnapshotWithoutASum(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenSnapshots(dir, 3)
	if err != nil {
		t.Fatal(err)
	}
	id := takeSnapshot(t, s, 70, "the state")
	folder := filepath.Join(dir, snapshotFolder, id)
	text, err := os.ReadFile(filepath.Join(folder, metaFile))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{`"Configuration"`: `"Configurasion"`, `"Index":70`: `"Index":71`,
		`"Term":3`: `"Term":2`, `"CRC"`: `"CRS"`} {
		writeFile(t, filepath.Join(folder, metaFile), []byte(strings.Replace(string(text), from, to, 1)))
		if err := os.RemoveAll(filepath.Join(folder, sumFile)); err != nil {
			t.Fatal(err)
		}
		if found, err := s.Check(); err != nil || len(found) != 1 || !errors.Is(found[0].Err, ErrDamaged) {
			t.Errorf("%s for %s: %+v, %v", to, from, found, err)
		}
	}
	writeFile(t, filepath.Join(folder, metaFile), text)
	if found, err := s.Check(); err != nil || len(found) != 1 || found[0].Err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if sum, err := os.ReadFile(filepath.Join(folder, sumFile)); err != nil || string(sum) != digest(text) {
		t.Errorf("the sum is %q, %v", sum, err)
	}
}

// Where to begin, by hand: entries are indices, snapshots their index, below 0 damaged.
func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		entries, bad []uint64
		snapshots    []int
		begins       int // the snapshot's index, 0 before the first entry; -1: damaged
		cut          uint64
	}{
		"nothing at all":                       {nil, nil, nil, 0, 0},
		"a log alone":                          {[]uint64{1, 2, 3}, nil, nil, 0, 0},
		"a log that lacks its beginning":       {[]uint64{2, 3}, nil, nil, -1, 0},
		"a log with a gap":                     {[]uint64{1, 3}, nil, nil, -1, 0},
		"a gap before the snapshot's entry":    {[]uint64{1, 2, 8, 9}, nil, []int{7}, 7, 0},
		"a gap after it":                       {[]uint64{8, 10}, nil, []int{7}, -1, 0},
		"a snapshot newer than the log":        {[]uint64{1, 2}, nil, []int{7}, 7, 0},
		"a snapshot alone":                     {nil, nil, []int{7}, 7, 0},
		"the newest is damaged":                {[]uint64{3, 4, 5, 6, 7, 8}, nil, []int{-7, 5}, 5, 0},
		"it is, and the log is cut":            {[]uint64{7, 8}, nil, []int{-7, 5}, -1, 0},
		"it is, and was newer than the log":    {[]uint64{6}, nil, []int{-7, 5}, -1, 0},
		"it is, alone, and the log is whole":   {[]uint64{1, 2, 3}, nil, []int{-2}, 0, 0},
		"it is, alone, without a log":          {nil, nil, []int{-2}, -1, 0},
		"an older one is damaged":              {[]uint64{8}, nil, []int{7, -5}, 7, 0},
		"a covered entry is":                   {[]uint64{3, 4, 5, 6, 7, 8}, []uint64{4, 6}, []int{7, 5}, 7, 6},
		"an entry after the snapshot is":       {[]uint64{3, 4, 5, 6, 7, 8}, []uint64{8}, []int{7}, -1, 0},
		"the last entry is, and it is covered": {[]uint64{3, 4}, []uint64{4}, []int{7}, -1, 0},
	} {
		var snapshots []Snapshot
		ids := map[string]int{"": 0}
		for _, index := range c.snapshots {
			s := Snapshot{ID: fmt.Sprint("s", index), Index: uint64(max(index, -index))}
			if index < 0 {
				s.Err = damaged("snapshot %s", s.ID)
			}
			ids[s.ID] = index
			snapshots = append(snapshots, s)
		}
		begin, err := Decide(c.entries, c.bad, snapshots)
		if c.begins < 0 {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: begins with %+v, %v", name, begin, err)
			}
			continue
		}
		if err != nil || ids[begin.Snapshot] != c.begins || begin.CutTo != c.cut {
			t.Errorf("%s: begins with %+v, %v", name, begin, err)
		}
	}
}
