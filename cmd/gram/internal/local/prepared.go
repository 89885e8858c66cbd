package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/pki"
	"github.com/gram-compute/gram/protocol"
)

// joinFile in a data directory says which cluster the coordinator that starts there joins. It
// holds an admin's token, and goes once the coordinator has joined.
const joinFile = "join.json"

// prepared is what joinFile holds.
type prepared struct {
	Addresses []string `json:"addresses"` // host:port of the API
	Token     string   `json:"token"`
}

// WritePrepared makes the data directory one of a member to be.
func WritePrepared(data, nodeID string, addresses []string, token gate.Token) error {
	if nodeID != "" {
		if err := pki.WriteFile(filepath.Join(data, node.NodeIDFile), []byte(nodeID+"\n"), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", node.NodeIDFile, err)
		}
	}
	text, err := json.Marshal(prepared{addresses, token.Reveal()})
	if err != nil {
		return err
	}
	if err := pki.WriteFile(filepath.Join(data, joinFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", joinFile, err)
	}
	return nil
}

// NotBegun refuses a data directory in which a member has begun.
func NotBegun(data string) error {
	_, err := os.Stat(filepath.Join(data, node.ClusterIDFile))
	switch {
	case err == nil:
		return &exit.Failure{Code: exit.Conflict, What: "a member of a cluster lives in " + data,
			Hint: "Name an empty directory with --data."}
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("look into the data directory: %w", err)
	}
	return nil
}

// APIAddresses checks the host:port of coordinators; what names them in the error.
func APIAddresses(what string, addresses []string) ([]string, error) {
	var hosts []string
	for _, address := range addresses {
		host := strings.TrimPrefix(strings.TrimSpace(address), "https://")
		if _, _, err := net.SplitHostPort(host); err != nil {
			return nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("%s %q", what, address), Why: err,
				Hint: "Write host:port of a member's API."}
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// OwnAddresses refuses what --listen, --raft and --advertise cannot mean.
func OwnAddresses(cfg *coordinator.Config) error {
	for _, f := range []struct{ flag, address string }{
		{"--listen", cfg.ListenAddr}, {"--raft", cfg.RaftAddr}, {"--advertise", cfg.AdvertiseAddr},
	} {
		if f.address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(f.address); err != nil {
			return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("%s %q", f.flag, f.address), Why: err,
				Hint: "Write host:port; 0.0.0.0 is every address of this machine."}
		}
	}
	return nil
}

// PreparedJoin takes up what `gram cluster join` left in the data directory.
func PreparedJoin(cfg *coordinator.Config) error {
	file := filepath.Join(cfg.DataDir, joinFile)
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", joinFile, err)
	}
	if cfg.Restore != "" {
		return &exit.Failure{Code: exit.Usage, What: "--restore, and " + file + " says to join a cluster",
			Hint: "Remove that file, or leave --restore out."}
	}
	if NotBegun(cfg.DataDir) != nil {
		return nil // it joined; the file goes when it serves
	}
	var p prepared
	if err := protocol.StrictDecode(text, &p); err != nil {
		return &exit.Failure{Code: exit.Usage, What: file, Why: err, Hint: "`gram cluster join` writes it anew."}
	}
	if cfg.Join, err = APIAddresses(file, p.Addresses); err != nil {
		return err
	}
	if cfg.JoinToken, err = gate.ParseToken(p.Token); err != nil {
		return &exit.Failure{Code: exit.Denied, What: file, Why: err, Hint: "`gram cluster join` writes it anew."}
	}
	return nil
}

// ForgetJoin removes the token that joining took.
func ForgetJoin(data string) error {
	if err := os.Remove(filepath.Join(data, joinFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s, which is used up: %w", joinFile, err)
	}
	return nil
}
