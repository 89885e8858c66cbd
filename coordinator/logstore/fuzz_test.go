package logstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
)

// FuzzPages: a file with noise in it, or noise alone, is read or refused as damaged; it is never a panic.
func FuzzPages(f *testing.F) {
	file := filepath.Join(f.TempDir(), "log.db")
	bolt, err := Open(file, unsynced())
	if err != nil {
		f.Fatal(err)
	}
	for i := range uint64(40) {
		if err := bolt.StoreLog(&raft.Log{Index: i + 1, Term: 1,
			Data: bytes.Repeat([]byte("x"), int(i)*50)}); err != nil {
			f.Fatal(err)
		}
	}
	if err := bolt.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	for page := range 8 {
		f.Add([]byte{255, 255}, uint32(page*os.Getpagesize()+10))
	}
	f.Add(whole[:3*os.Getpagesize()], uint32(len(whole)))
	f.Fuzz(func(t *testing.T, noise []byte, at uint32) {
		text := bytes.Clone(whole)
		copy(text[int(at)%len(text):], noise)
		for _, text := range [][]byte{text, noise} {
			if _, err := Pages(bytes.NewReader(text), int64(len(text))); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("%v is not told as damage", err)
			}
		}
	})
}
