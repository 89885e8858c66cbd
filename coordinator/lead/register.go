package lead

import (
	"context"
	"crypto/sha256"
	"errors"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/lease"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

var errOtherWorker = errors.New("this id is another worker's: an id belongs to the secret it was made from, and to " +
	"the certificate it was first used with")

// bond is what a worker's id belongs to, as a call shows it.
func bond(ctx context.Context, secret []byte) schedule.Bond {
	return schedule.Bond{Secret: sha256.Sum256(secret), Certificate: gate.CallerOf(ctx).Key}
}

// register makes a worker known, unless the id is another's. An id that follows from a secret cannot be another's at
// any leader; its worker may come again with a renewed certificate. One of another form belongs to who registers it
// first with this leader.
func (l *Leadership) register(ctx context.Context, c *Leader, w schedule.Worker, m *pb.RegisterRequest) error {
	bound := protocol.BoundWorkerID(w.ID)
	if bound && protocol.WorkerID(m.GetSecret()) != w.ID {
		return connect.NewError(connect.CodePermissionDenied, errOtherWorker)
	}
	w.Bond = bond(ctx, m.GetSecret())
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.board.Roster.Worker(w.ID); ok && !bound && known.Bond != w.Bond {
		return connect.NewError(connect.CodePermissionDenied, errOtherWorker)
	}
	view, _ := c.fsm.View()
	l.board.Register(view, w, lease.GrantedTo(view, w.ID, m.GetHeld()), c.clock.Mono())
	return nil
}

// bound refuses a call under the id of another worker. Who has not registered with this leader is told so by the call.
// The caller holds l.mu.
func (l *Leadership) bound(ctx context.Context, workerID string, secret []byte) error {
	known, ok := l.board.Roster.Worker(workerID)
	own := protocol.BoundWorkerID(workerID) && protocol.WorkerID(secret) == workerID
	switch {
	case own && ok && known.Bond != bond(ctx, secret):
		return connect.NewError(connect.CodeNotFound,
			errors.New("the worker's certificate is another than it registered with: register again"))
	case own, !ok && !protocol.BoundWorkerID(workerID), ok && known.Bond == bond(ctx, secret):
		return nil
	}
	return connect.NewError(connect.CodePermissionDenied, errOtherWorker)
}
