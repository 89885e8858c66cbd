package lead

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// FirstToken is a credential that the cluster begins with.
type FirstToken struct {
	Token gate.Token // without an ID where this member holds none: another made the cluster's
	Scope gate.Scope
	File  string // in the data directory
}

// Founder makes what the log lacks of a cluster's beginning.
type Founder struct{ *Leader }

// initCluster names the cluster and stores its first tokens, once.
func (c Founder) initCluster(ctx context.Context) error {
	view, _ := c.fsm.View()
	commands, err := c.FirstEntries(view)
	if err != nil {
		return err
	}
	for _, cmd := range commands {
		reply, err := c.log.Propose(ctx, cmd)
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		if err != nil {
			return fmt.Errorf("initialize the cluster: %w", err)
		}
	}
	view, _ = c.fsm.View()
	return node.MarkInitialized(c.cfg.DataDir, view.ClusterID)
}

// FirstEntries are what the log still lacks of a cluster's beginning.
func (c Founder) FirstEntries(view state.State) ([]*pb.Command, error) {
	var commands []*pb.Command
	if view.ClusterID == "" {
		id, err := c.cfg.NewID()
		if err != nil {
			return nil, err
		}
		commands = append(commands, &pb.Command{Body: &pb.Command_Init{Init: &pb.InitCluster{ClusterId: id,
			Secret: newSecret()}}})
	} else if len(view.Secret) == 0 { // an older release began it
		set := &pb.SetSecret{Secret: newSecret()}
		commands = append(commands, &pb.Command{Body: &pb.Command_SetSecret{SetSecret: set}})
	}
	for _, first := range c.cfg.First {
		if first.Token.ID == "" {
			continue // this member holds none: another made the cluster's
		}
		stored, known := view.Tokens.Get(first.Token.ID)
		if view.Tokens.Revoked(first.Token.ID) {
			continue // the file is of no more use
		} else if !known {
			commands = append(commands, &pb.Command{Body: &pb.Command_PutToken{PutToken: &pb.PutToken{
				Id: first.Token.ID, SecretSha256: first.Token.SecretSHA256(), Scope: string(first.Scope),
				Name: first.File, First: true,
			}}})
		} else if !bytes.Equal(stored.SecretSHA256, first.Token.SecretSHA256()) {
			return nil, fmt.Errorf("%w: %s has another secret than the cluster knows for token %s: put the file "+
				"back as it was, or remove it to have a new token made",
				node.ErrDataDir, filepath.Join(c.cfg.DataDir, first.File), first.Token.ID)
		}
	}
	return commands, nil
}

// newSecret draws what a cluster keeps to itself. A machine without randomness has ended the program by then.
func newSecret() []byte {
	secret := make([]byte, 32)
	rand.Read(secret) // never fails (crypto/rand)
	return secret
}
