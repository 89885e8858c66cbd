package logstore

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// written are the entries of testdata/raft-boltdb-2.3.1.db.gz, which raft-boltdb v2.3.1 wrote.
func written() []*raft.Log {
	return []*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("members"),
			AppendedAt: time.Unix(1_700_000_000, 5).UTC()},
		{Index: 2, Term: 1, Type: raft.LogNoop},
		{Index: 3, Term: 300, Type: raft.LogCommand, Data: bytes.Repeat([]byte("x"), 300),
			Extensions: []byte("more"), AppendedAt: time.Unix(1_700_000_001, 0).UTC()},
		{Index: 4, Term: 1 << 40, Type: raft.LogCommand, Data: []byte{}},
	}
}

// ofRaftBoltdb unpacks the file.
func ofRaftBoltdb(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "raft-boltdb-2.3.1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "raft.db")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// rawEntries are the bytes of the entries in a file.
func rawEntries(t *testing.T, file string) map[string]string {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw := map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(logsBucket)).ForEach(func(k, v []byte) error {
			raw[string(k)] = string(v)
			return nil
		})
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return raw
}

// A log that raft-boltdb wrote is read, and what is written is what raft-boltdb would have written: a member can move
// to a release with the one from a release with the other, and back.
func TestTheLayoutOfRaftBoltdb(t *testing.T) {
	file := ofRaftBoltdb(t)
	store := open(t, file)
	for _, want := range written() {
		var got raft.Log
		err := store.GetLog(want.Index, &got)
		if got.AppendedAt = got.AppendedAt.UTC(); err != nil || !reflect.DeepEqual(&got, want) {
			t.Errorf("entry %d is %+v, want %+v (%v)", want.Index, &got, want, err)
		}
	}
	if term, err := store.GetUint64([]byte("CurrentTerm")); err != nil || term != 7 {
		t.Errorf("the term is %d (%v)", term, err)
	}
	if vote, err := store.Get([]byte("LastVoteCand")); err != nil || string(vote) != "a" {
		t.Errorf("the vote is %q (%v)", vote, err)
	}
	own := filepath.Join(t.TempDir(), "own.db")
	copied := open(t, own)
	if err := errors.Join(copied.StoreLogs(written()), copied.Close(), store.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := rawEntries(t, own), rawEntries(t, file); !reflect.DeepEqual(got, want) {
		t.Errorf("entries are %q, want %q", got, want)
	}
}

func TestBoltByHand(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "raft.db"))
	defer store.Close()
	ends := func(first, last uint64) {
		t.Helper()
		a, errA := store.FirstIndex()
		b, errB := store.LastIndex()
		if a != first || b != last || errA != nil || errB != nil {
			t.Errorf("the log is %d to %d, want %d to %d (%v, %v)", a, b, first, last, errA, errB)
		}
	}
	ends(0, 0)
	var entries []*raft.Log
	for i := range uint64(300) {
		entries = append(entries, &raft.Log{Index: i + 1, Term: i})
	}
	if err := store.StoreLogs(entries); err != nil {
		t.Fatal(err)
	}
	ends(1, 300)
	if err := errors.Join(store.DeleteRange(1, 256), store.DeleteRange(299, 1000)); err != nil {
		t.Fatal(err)
	}
	ends(257, 298)
	var e raft.Log
	if err := store.GetLog(256, &e); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("a deleted entry: %v", err)
	}
	if err := store.StoreLog(&raft.Log{Index: 298, Term: 999}); err != nil {
		t.Fatal(err)
	}
	if err := store.GetLog(298, &e); err != nil || e.Term != 999 {
		t.Errorf("a replaced entry: %+v (%v)", e, err)
	}
}

func TestStableValuesByHand(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "raft.db"))
	defer store.Close()
	if _, err := store.GetUint64([]byte("k")); !errors.Is(err, ErrNotFound) || err.Error() != "not found" {
		t.Errorf("a value that was never set: %v; raft knows the text \"not found\"", err)
	}
	if err := errors.Join(store.SetUint64([]byte("k"), 1<<40), store.Set([]byte("text"), []byte("abc"))); err != nil {
		t.Fatal(err)
	}
	if n, err := store.GetUint64([]byte("k")); err != nil || n != 1<<40 {
		t.Errorf("the number is %d (%v)", n, err)
	}
	if _, err := store.GetUint64([]byte("text")); !errors.Is(err, ErrDamaged) {
		t.Errorf("a number of 3 bytes: %v", err)
	}
}
