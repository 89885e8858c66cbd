package coordinator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
)

// What was damaged, exchanged or lost in a data directory is refused, and said.
func TestDataDirectoryThatIsNotWhole(t *testing.T) {
	t.Parallel()
	log := func(cfg Config) string { return filepath.Join(cfg.DataDir, "raft", "log.db") }
	for name, c := range map[string]struct {
		harm func(*testing.T, *Config) error
		says []string
	}{
		"another secret in a token's file": {func(_ *testing.T, cfg *Config) error {
			file := filepath.Join(cfg.DataDir, WorkerTokenFile)
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			token, err := gate.ParseToken(string(text))
			return errors.Join(err, os.WriteFile(file, []byte("gram_"+token.ID+"_other\n"), 0o600))
		}, []string{WorkerTokenFile, "remove it to have a new token made"}},
		"another member's name": {func(_ *testing.T, cfg *Config) error {
			cfg.NodeID = "c9"
			return os.Remove(filepath.Join(cfg.DataDir, node.NodeIDFile))
		}, []string{"the members c1 and no c9", "node id"}},
		"another member's name, against the file": {func(_ *testing.T, cfg *Config) error {
			cfg.NodeID = "c9"
			return nil
		}, []string{node.NodeIDFile, "this is member c1, not c9"}},
		"no raft folder": {func(_ *testing.T, cfg *Config) error {
			return os.RemoveAll(filepath.Join(cfg.DataDir, "raft"))
		}, []string{node.ClusterIDFile, "raft is empty", "restore the raft folder"}},
		"an empty log": {func(_ *testing.T, cfg *Config) error {
			return os.Truncate(log(*cfg), 0)
		}, []string{node.ClusterIDFile, "raft is empty", "restore the raft folder"}},
		"another cluster's log": {func(t *testing.T, cfg *Config) error {
			other := testConfig(t.TempDir())
			stopTest(t, startTest(t, other))
			tokens := []string{AdminTokenFile, WorkerTokenFile}
			for _, file := range tokens { // or they would be added to the other log
				if err := os.Rename(filepath.Join(other.DataDir, file), filepath.Join(cfg.DataDir, file)); err != nil {
					return err
				}
			}
			return os.Rename(log(other), log(*cfg))
		}, []string{node.ClusterIDFile, "is of cluster", "restore the raft folder"}},
		"a log cut short": {func(_ *testing.T, cfg *Config) error {
			return os.Truncate(log(*cfg), 2*4096)
		}, []string{"log.db", "restore the raft folder"}},
		"a log with its pages wiped": {func(_ *testing.T, cfg *Config) error {
			file, err := os.OpenFile(log(*cfg), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			info, err := file.Stat()
			if err == nil {
				_, err = file.WriteAt(make([]byte, info.Size()-2*4096), 2*4096)
			}
			return errors.Join(err, file.Close())
		}, []string{"log.db", "restore the raft folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t.TempDir())
			stopTest(t, startTest(t, cfg))
			if err := c.harm(t, &cfg); err != nil {
				t.Fatal(err)
			}
			started, err := Start(t.Context(), cfg)
			if err == nil {
				stopTest(t, started)
			}
			if !errors.Is(err, node.ErrDataDir) {
				t.Fatalf("started, or another error: %v", err)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}
