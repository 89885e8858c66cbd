package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/coordinator/pki"
)

// ClusterIDFile in the data directory says that its log has begun, and of which
// cluster: an empty log beside it is a lost one.
const ClusterIDFile = "cluster-id"

// MarkInitialized writes the cluster's id beside the log that holds it.
func MarkInitialized(dir, id string) error {
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, ClusterIDFile)
	marked, err := readMarker(file)
	switch {
	case err != nil:
		return err
	case marked == id:
		return nil
	case marked != "":
		return fmt.Errorf("%w: %s says cluster %s, but the log in %s is of cluster %s: restore the raft folder, or "+
			"remove %s if this log is the right one",
			ErrDataDir, file, marked, filepath.Join(dir, "raft"), id, ClusterIDFile)
	}
	if err := pki.WriteFile(file, []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", ClusterIDFile, DiskError(err))
	}
	return nil
}

// CheckMarker returns the id of the cluster that lives in dir, "" when no cluster does yet,
// and refuses an empty log where there was one. Snapshots without a log are not enough:
// what was acknowledged after the last one would be lost.
func CheckMarker(dir string, log interface{ LastIndex() (uint64, error) }) (string, error) {
	if dir == "" {
		return "", nil
	}
	file := filepath.Join(dir, ClusterIDFile)
	marked, err := readMarker(file)
	if err != nil || marked == "" {
		return "", err
	}
	last, err := log.LastIndex()
	if err != nil {
		return "", fmt.Errorf("look for an existing log: %w", err)
	}
	if last == 0 {
		return "", fmt.Errorf("%w: %s says that cluster %s lives here, but the log in %s is empty. %s",
			ErrDamaged, file, marked, filepath.Join(dir, "raft"), rebuildAdvice(dir))
	}
	return marked, nil
}

// readMarker returns "" when there is none, or an empty one.
func readMarker(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", ClusterIDFile, err)
	}
	return strings.TrimSpace(string(text)), nil
}
