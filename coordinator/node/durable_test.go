package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/life"
	"github.com/hashicorp/raft"
)

// What the log store has acknowledged is in its file: a copy of the file, as it is found after a
// kill, holds it.
func TestAcknowledgedEntriesAreInTheFile(t *testing.T) {
	cfg := Config{DataDir: t.TempDir(), DiskLimit: time.Minute, Logger: slog.New(slog.DiscardHandler)}
	m := New(life.New())
	stores, err := m.OpenStores(cfg, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i := uint64(1); i <= 3; i++ {
		if err := stores.Log.StoreLog(&raft.Log{Index: i, Term: 1, Data: []byte("entry")}); err != nil {
			t.Fatal(err)
		}
		found, err := os.ReadFile(filepath.Join(cfg.DataDir, "raft", "log.db"))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "log.db")
		if err := os.WriteFile(file, found, 0o600); err != nil {
			t.Fatal(err)
		}
		bolt, _, err := openBolt(file, cfg.Logger)
		if err != nil {
			t.Fatal(err)
		}
		var entry raft.Log
		if err := bolt.GetLog(i, &entry); err != nil || string(entry.Data) != "entry" {
			t.Errorf("entry %d was acknowledged and is not in the file: %v", i, err)
		}
		if err := bolt.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
