package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// unsynced are a member's options, but for tests.
func unsynced() *bbolt.Options {
	return &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}
}

func open(t *testing.T, file string) *Bolt {
	t.Helper()
	store, err := Open(file, unsynced())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// content is all that a log's file tells raft.
type content struct {
	entries    []raft.Log
	term, vote uint64
	candidate  string
}

// write makes a file as a member leaves it: entries of many sizes, some of them cut off at the front, a term and a
// vote.
func write(t *testing.T, store Store, entries int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 1; i <= entries; i++ {
		size := rng.IntN(700)
		if i%37 == 0 {
			size = 20_000 // over several pages
		}
		data := bytes.Repeat([]byte(fmt.Sprintf("entry %d;", i)), size/8+1)
		entry := &raft.Log{Index: uint64(i), Term: uint64(1 + i/100), Data: data,
			AppendedAt: time.Unix(1700000000, int64(i))}
		if i%50 == 0 {
			entry.Type, entry.Extensions = raft.LogNoop, []byte("of another layer")
		}
		if err := store.StoreLog(entry); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(store.DeleteRange(1, uint64(entries/3)), store.SetUint64([]byte("CurrentTerm"), 7),
		store.SetUint64([]byte("LastVoteTerm"), 6),
		store.Set([]byte("LastVoteCand"), []byte("10.0.0.1:7481"))); err != nil {
		t.Fatal(err)
	}
}

// load reads a file as a member does at its start.
func load(file string) (c content, err error) {
	f, err := os.Open(file)
	if err != nil {
		return c, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	found, err := Pages(f, info.Size())
	if err != nil {
		return c, err
	}
	bolt, err := Open(file, unsynced())
	if err != nil {
		return c, err
	}
	defer bolt.Close()
	store := Check(bolt)
	if _, err := store.Upgrade(found); err != nil {
		return c, err
	}
	bad, err := store.Verify(found)
	if err != nil {
		return c, err
	}
	if _, err := Decide(found.Entries, bad, []Snapshot{{ID: "1-1-1", Index: found.Entries[0] - 1}}); err != nil {
		return c, err
	}
	for _, i := range found.Entries {
		var e raft.Log
		if err := store.GetLog(i, &e); err != nil {
			return c, err
		}
		e.AppendedAt = e.AppendedAt.UTC()
		c.entries = append(c.entries, e)
	}
	c.term, err = store.GetUint64([]byte("CurrentTerm"))
	if err == nil {
		c.vote, err = store.GetUint64([]byte("LastVoteTerm"))
	}
	if err == nil {
		var candidate []byte
		candidate, err = store.Get([]byte("LastVoteCand"))
		c.candidate = string(candidate)
	}
	return c, err
}

// flip writes a copy of the file with one bit flipped.
func flip(t *testing.T, text []byte, bit int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.db")
	text = bytes.Clone(text)
	text[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sample is a file with checksums, and what it holds.
func sample(t *testing.T, entries int) ([]byte, content) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.db")
	bolt := open(t, file)
	store := Check(bolt)
	if _, err := store.Upgrade(&File{}); err != nil {
		t.Fatal(err)
	}
	write(t, store, entries)
	if err := bolt.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text, want
}

// One flipped bit anywhere in the file is found, or nothing refers to it: what the file then tells raft is what was
// written. It is never a panic, and never something else.
func TestFlippedBit(t *testing.T) {
	text, want := sample(t, 400)
	rng := rand.New(rand.NewPCG(3, 4))
	used := pagesInUse(t, text)
	found, unused := 0, 0
	for n := range 300 {
		at := rng.IntN(len(text))
		if n%2 == 0 { // or most would hit pages that are free
			at = int(used[rng.IntN(len(used))]) + rng.IntN(os.Getpagesize())
		}
		got, err := load(flip(t, text, 8*at+rng.IntN(8)))
		switch {
		case errors.Is(err, ErrDamaged):
			found++
		case err != nil:
			t.Errorf("byte %d: %v is not told as damage", at, err)
		case !reflect.DeepEqual(got, want):
			t.Errorf("byte %d: another content is believed", at)
		default:
			unused++
		}
	}
	t.Logf("%d found, %d where nothing is kept", found, unused)
	if found < 100 {
		t.Errorf("only %d of 300 flips hit anything", found)
	}
}

// One flipped bit in the data of an entry is found, in 100 of 100.
func TestFlippedBitOfAnEntry(t *testing.T) {
	text, want := sample(t, 400)
	rng := rand.New(rand.NewPCG(5, 6))
	inUse := map[int64]bool{}
	for _, offset := range pagesInUse(t, text) {
		inUse[offset] = true
	}
	for range 100 {
		e := want.entries[rng.IntN(len(want.entries))]
		at := bytes.Index(text, e.Data)
		for !inUse[int64(at/os.Getpagesize()*os.Getpagesize())] { // older copies stay in free pages
			next := bytes.Index(text[at+1:], e.Data)
			if next < 0 {
				t.Fatalf("entry %d is not in the file", e.Index)
			}
			at += 1 + next
		}
		at += rng.IntN(len(e.Data))
		if _, err := load(flip(t, text, 8*at+rng.IntN(8))); !errors.Is(err, ErrDamaged) {
			t.Errorf("entry %d with a flipped bit: %v", e.Index, err)
		}
	}
}

// pagesInUse are the offsets of the pages that the newest transaction refers to, and of the meta pages.
func pagesInUse(t *testing.T, text []byte) []int64 {
	t.Helper()
	w := &walker{file: bytes.NewReader(text), found: &File{}}
	root, err := w.metas(int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	w.seen = make([]bool, w.end)
	if err := w.page(root, 0, nil, nil, w.bucket); err != nil {
		t.Fatal(err)
	}
	offsets := []int64{0, w.pageSize}
	for id, seen := range w.seen {
		if seen {
			offsets = append(offsets, int64(id)*w.pageSize)
		}
	}
	return offsets
}

// A log of a version without checksums is read and gets them; from then on an entry without one is damage.
func TestUpgrade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.db")
	bolt := open(t, file)
	write(t, bolt, 400)
	var old raft.Log
	if err := bolt.GetLog(300, &old); err != nil {
		t.Fatal(err)
	}
	if err := bolt.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.entries) != 400-133 || got.term != 7 || got.vote != 6 || got.candidate != "10.0.0.1:7481" {
		t.Errorf("%d entries, term %d, vote %d for %s", len(got.entries), got.term, got.vote, got.candidate)
	}
	if e := got.entries[300-134]; !bytes.Equal(e.Data, old.Data) || string(e.Extensions) != "of another layer" ||
		e.Type != raft.LogNoop {
		t.Errorf("entry 300 became %+v", e)
	}
	again, err := load(file)
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("the second start: %v", err)
	}
	bolt = open(t, file)
	defer bolt.Close()
	old.Extensions = nil
	if err := bolt.StoreLog(&old); err != nil {
		t.Fatal(err)
	}
	if err := Check(bolt).GetLog(300, &raft.Log{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("an entry without a checksum in a file that has them: %v", err)
	}
}
