package node

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/hashicorp/raft"
)

// NodeIDFile in the data directory holds the member's id. It is lost together with the log, so
// that a member on an empty disk does not take its old name.
const NodeIDFile = "node-id"

// ID is the configured id, or the one that the data directory holds, or a new one. A member that belongs
// to no cluster yet may change its mind: it may have been refused under the id it came with.
func ID(cfg Config, log raft.LogStore) (string, error) {
	if cfg.DataDir == "" {
		if cfg.NodeID != "" {
			return cfg.NodeID, nil
		}
		return "c1", nil
	}
	file := filepath.Join(cfg.DataDir, NodeIDFile)
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", NodeIDFile, err)
	}
	kept := strings.TrimSpace(string(text))
	id := cfg.NodeID
	switch {
	case id == "" && kept != "":
		return kept, nil
	case id == "" && cfg.Joins:
		id = "c-" + RandomHex()
	case id == "":
		id = "c1"
	}
	if id == kept {
		return id, nil
	}
	if kept != "" {
		belongs, err := belongsToCluster(cfg.DataDir, log)
		if err != nil {
			return "", err
		}
		if belongs {
			return "", fmt.Errorf("%w: %s says that this is member %s, not %s: start with that node id or none, or "+
				"use another data directory",
				ErrDataDir, file, kept, id)
		}
	}
	if err := pki.WriteFile(file, []byte(id+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write %s: %w", NodeIDFile, DiskError(err))
	}
	return id, nil
}

func belongsToCluster(dir string, log raft.LogStore) (bool, error) {
	marked, err := readMarker(filepath.Join(dir, ClusterIDFile))
	if err != nil || marked != "" {
		return true, err
	}
	last, err := log.LastIndex()
	if err != nil {
		return true, fmt.Errorf("look for an existing log: %w", err)
	}
	return last > 0, nil
}

// RandomHex draws 8 hexadecimal digits.
func RandomHex() string {
	var bytes [4]byte
	rand.Read(bytes[:]) // never fails since Go 1.24
	return hex.EncodeToString(bytes[:])
}
