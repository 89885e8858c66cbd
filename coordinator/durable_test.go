package coordinator

import (
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

// What the log store has acknowledged is in its file: a copy of the file, as it is found after a
// kill, holds it.
func TestAcknowledgedEntriesAreInTheFile(t *testing.T) {
	cfg, err := testConfig(t.TempDir()).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := &member{}
	stores, err := m.openStores(cfg, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}()
	for i := uint64(1); i <= 3; i++ {
		if err := stores.log.StoreLog(&raft.Log{Index: i, Term: 1, Data: []byte("entry")}); err != nil {
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

// Whatever member is asked, at once, it knows what another has acknowledged.
func TestEveryMemberKnowsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	q := startQuorum(t, 3)
	first, _ := q.calls(q.leader())
	for _, id := range []string{"a", "b", "c"} {
		if _, err := first.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(id)})); err != nil {
			t.Fatal(err)
		}
		for name, c := range q.members {
			jobs, _ := q.calls(c)
			_, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
			switch connect.CodeOf(err) {
			case connect.CodeNotFound:
				t.Errorf("%s does not know job %s: %v", name, id, err)
			case connect.CodeUnavailable: // the lead may move on a busy machine
				t.Log(err)
			default:
				if err != nil {
					t.Error(err)
				}
			}
		}
	}
}
