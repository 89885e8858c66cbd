package nemesis

import (
	"bytes"
	"math/bits"
	"os"
	"path/filepath"
	"testing"
)

// A flip changes one bit, where the file holds anything.
func TestFlip(t *testing.T) {
	whole := append(make([]byte, 5000), "some bytes"...)
	for pick := range 50 {
		file := filepath.Join(t.TempDir(), "log.db")
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := flip(file, pick); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil || len(got) != len(whole) || !bytes.Equal(got[:5000], whole[:5000]) {
			t.Fatalf("pick %d: %d bytes, %v", pick, len(got), err)
		}
		wrong := 0
		for i := range got {
			wrong += bits.OnesCount8(got[i] ^ whole[i])
		}
		if wrong != 1 {
			t.Errorf("pick %d: %d bits are wrong", pick, wrong)
		}
	}
}

// damage changes the newest snapshot or the log, and returns an error where the file does not exist.
func TestDamage(t *testing.T) {
	data := t.TempDir()
	if _, err := damage(Fault{Kind: FlipSnapshot}, data); err == nil {
		t.Error("a snapshot that is not there was damaged")
	}
	for _, name := range []string{"raft/snapshots/2-10-1/state.bin", "raft/snapshots/2-90-1/state.bin", "raft/log.db"} {
		file := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Repeat([]byte{7}, 10000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := damage(Fault{Kind: FlipSnapshot, Pick: 3}, data); err != nil ||
		filepath.Base(filepath.Dir(file)) != "2-90-1" {
		t.Errorf("damaged is %s, %v", file, err)
	}
	file, err := damage(Fault{Kind: TearLog, Pick: 4000}, data)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 10000-4001 {
		t.Errorf("the torn log has %d bytes, %v", info.Size(), err)
	}
}
