package coordinator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
)

const backupPiece = 256 << 10

// ErrRestore: the backup is of no use here.
var ErrRestore = errors.New("cannot restore")

// Backup sends the state as a snapshot, which carries its own count and digest too.
func (s *clusterService) Backup(ctx context.Context, _ *connect.Request[pb.BackupRequest], stream *connect.ServerStream[pb.BackupResponse]) error {
	view, _, err := s.c.read(ctx)
	if err != nil {
		return wireError(err)
	}
	sum := sha256.New()
	pieces := pieceWriter(func(piece []byte) error {
		sum.Write(piece)
		return stream.Send(&pb.BackupResponse{Piece: piece})
	})
	if err := view.Encode(pieces); err != nil {
		return wireError(err)
	}
	return stream.Send(&pb.BackupResponse{Sha256: sum.Sum(nil)})
}

// pieceWriter sends what is written in messages of bounded size.
type pieceWriter func([]byte) error

// Write implements io.Writer.
func (send pieceWriter) Write(p []byte) (int, error) {
	for sent := 0; sent < len(p); {
		n := min(len(p)-sent, backupPiece)
		if err := send(p[sent : sent+n]); err != nil {
			return sent, err
		}
		sent += n
	}
	return len(p), nil
}

// CheckBackup reads a backup to its end; the error says what is wrong with it.
func CheckBackup(r io.Reader) error {
	_, err := state.Decode(r)
	return err
}

// restore makes a backup the beginning of this member's log: a snapshot before its first
// entry, as raft leaves one when it cuts the log. The cluster gets an id of its own, so that
// no member of the old one takes it for its own.
func (m *member) restore(cfg Config, stores raftStores) error {
	exists, err := raft.HasExistingState(stores.log, stores.stable, stores.snapshots)
	switch {
	case err != nil:
		return fmt.Errorf("look for an existing log: %w", err)
	case exists:
		return fmt.Errorf("%w: %s holds a log; a backup is restored into an empty data directory only", ErrRestore, cfg.DataDir)
	}
	file, err := os.Open(cfg.Restore)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRestore, err)
	}
	defer file.Close()
	restored, err := state.Decode(file)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRestore, cfg.Restore, err)
	}
	restored.ClusterID = ""
	alone := raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(cfg.NodeID), Address: m.transport.LocalAddr()}}}
	sink, err := stores.snapshots.Create(raft.SnapshotVersionMax, 1, 1, alone, 1, m.transport)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRestore, diskError(err))
	}
	if err := (snapshot{restored}).Persist(sink); err != nil {
		return fmt.Errorf("%w: %w", ErrRestore, diskError(err))
	}
	return nil
}
