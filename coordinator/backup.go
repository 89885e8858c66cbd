package coordinator

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const backupPiece = 256 << 10

// ErrRestore: the backup is of no use here.
var ErrRestore = errors.New("cannot restore")

// Backup sends the state as a snapshot, which carries its own count and digest too.
func (s *clusterService) Backup(ctx context.Context, _ *connect.Request[pb.BackupRequest], stream *connect.ServerStream[pb.BackupResponse]) error {
	view, _, err := s.c.read(ctx)
	if err != nil {
		return outcome.Wire(err)
	}
	sum := sha256.New()
	pieces := pieceWriter(func(piece []byte) error {
		sum.Write(piece)
		return stream.Send(&pb.BackupResponse{Piece: piece})
	})
	if err := view.Encode(pieces); err != nil {
		return outcome.Wire(err)
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
