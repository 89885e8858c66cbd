package api

import (
	"context"
	"crypto/sha256"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const backupPiece = 256 << 10

// Backup sends the state as a snapshot, which carries its own count and digest too.
func (s *Clusters) Backup(
	ctx context.Context, _ *connect.Request[pb.BackupRequest], stream *connect.ServerStream[pb.BackupResponse],
) error {
	view, _, err := s.Read(ctx)
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
