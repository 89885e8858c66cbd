package coordinator

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// backupOf calls Backup and returns what a client keeps.
func backupOf(t *testing.T, c *Coordinator) []byte {
	t.Helper()
	url, client := serveTest(t, c)
	stream, err := gramv1connect.NewClusterServiceClient(client, url, as(c.AdminToken())).Backup(t.Context(),
		connect.NewRequest(&pb.BackupRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var file, digest []byte
	for stream.Receive() {
		if digest != nil {
			t.Error("a piece follows the digest")
		}
		file, digest = append(file, stream.Msg().GetPiece()...), stream.Msg().GetSha256()
	}
	if sum := sha256.Sum256(file); stream.Err() != nil || !bytes.Equal(sum[:], digest) {
		t.Fatalf("%v; digest %x, told %x", stream.Err(), sum, digest)
	}
	return file
}

// A cluster that begins with a backup has all that the old one had, but its id, and goes on.
func TestRestoreIntoANewCluster(t *testing.T) {
	t.Parallel()
	old := startTest(t, testConfig(t.TempDir()))
	planTest(t, old, "a", 5)
	if _, err := old.leads.Log().Complete(t.Context(), leafDone("a", 4)); err != nil {
		t.Fatal(err)
	}
	before, _ := old.fsm.View()
	file := backupOf(t, old)

	cfg := testConfig(t.TempDir())
	cfg.Restore = filepath.Join(t.TempDir(), "backup")
	damaged := bytes.Clone(file)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "cut short": file[:len(file)-1], "empty": nil} {
		writeTest(t, cfg.Restore, string(content))
		if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrRestore) || !errors.Is(err, state.ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	writeTest(t, cfg.Restore, string(file))
	if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrRestore) || !strings.Contains(err.Error(), "holds none") {
		t.Errorf("over a store without its objects: %v", err)
	}
	missing := ""
	before.EachObject(func(o state.Object) bool {
		key, _ := keyOf(cfg, o)
		if o.What == "partial" {
			missing = key
		} else if _, err := cfg.Store.Put(t.Context(), key, make([]byte, o.Ref.Size)); err != nil {
			t.Fatal(err)
		}
		return true
	})
	writeTest(t, filepath.Join(cfg.DataDir, WorkerTokenFile), old.WorkerToken().Reveal())
	if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrRestore) ||
		!strings.Contains(err.Error(), "token of the old cluster") {
		t.Errorf("with an old token: %v", err)
	}
	if err := os.Remove(filepath.Join(cfg.DataDir, WorkerTokenFile)); err != nil {
		t.Fatal(err)
	}
	restored := startTest(t, cfg)
	if job := getTest(t, restored, "a"); job.GetProgress().GetLeavesDone() != 1 {
		t.Errorf("job a: %v", job)
	}
	if _, err := restored.leads.Log().Complete(t.Context(), leafDone("a", 2)); err != nil {
		t.Error(err)
	}
	after, _ := restored.fsm.View()
	if after.ClusterID == before.ClusterID || after.JobCount() != before.JobCount() {
		t.Errorf("cluster %s of %d jobs from %s of %d", after.ClusterID, after.JobCount(), before.ClusterID,
			before.JobCount())
	}
	if _, known := after.Tokens.Get(old.AdminToken().ID); known {
		t.Error("a token of the old cluster holds")
	}
	if _, known := after.Tokens.Get(restored.AdminToken().ID); !known {
		t.Error("the new token does not hold")
	}
	if now, then := after.Epoch, before.Epoch; now != then+1 || !after.Held() {
		t.Errorf("epoch %d after %d, held %v", now, then, after.Held())
	}
	report := restored.Restored()
	if report.Objects != 4 || len(report.Missing) != 1 || report.Missing[0].String() != "job a, partial: "+missing+
		": it is not there" {
		t.Errorf("restored: %+v", report)
	}
	stopTest(t, restored)
	if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrRestore) {
		t.Errorf("restored over a log: %v", err)
	}
	cfg.Restore = ""
	if job := getTest(t, startTest(t, cfg), "a"); job.GetProgress().GetLeavesDone() != 2 {
		t.Errorf("after a restart job a: %v", job)
	}
}

func TestRestoreOfNothing(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.Restore = filepath.Join(cfg.DataDir, "none")
	if _, err := Start(t.Context(), cfg); !errors.Is(err, ErrRestore) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	cfg.Join = []string{"127.0.0.1:1"}
	if _, err := Start(t.Context(), cfg); err == nil || errors.Is(err, ErrRestore) {
		t.Errorf("restore and join: %v", err)
	}
}
