// Package outcome holds what can come of a call: sentinel errors, refusals and their codes on the wire.
package outcome

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
)

// MaxEntryBytes bounds an entry of the log. It is enforced before a command is proposed.
const MaxEntryBytes = 256 << 10

// Sentinel errors.
var (
	// ErrNotLeader: this coordinator does not lead; nothing was decided.
	ErrNotLeader = errors.New("this coordinator is not the leader")
	// ErrNoLeader: the cluster has no leader, so it answers nothing; nothing was decided.
	ErrNoLeader = errors.New("the cluster has no leader")
	// ErrUnknownOutcome: leadership was lost or time ran out after a command was
	// proposed; it may or may not be committed. Repeating it is safe.
	ErrUnknownOutcome = errors.New("outcome unknown; repeating the call is safe")
	// ErrEntryTooBig: the command does not fit a log entry.
	ErrEntryTooBig = fmt.Errorf("a log entry is at most %d bytes", MaxEntryBytes)
	// ErrShutdown: the coordinator is going down.
	ErrShutdown = errors.New("the coordinator is shutting down")
)

// Refuse is the error of a call or command that the state does not allow.
func Refuse(reason state.Reason, format string, args ...any) error {
	return &state.Rejection{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// WireUnary gives unary calls' errors their codes.
func WireUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		return res, Wire(err)
	}
}

// Wire maps our errors to Connect codes. Unavailable means: repeat the call.
func Wire(err error) error {
	var coded *connect.Error
	var rejection *state.Rejection
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case errors.As(err, &rejection):
		return connect.NewError(rejectionCode(rejection.Reason), rejection)
	case errors.Is(err, ErrNotLeader), errors.Is(err, ErrUnknownOutcome), errors.Is(err, ErrShutdown):
		return connect.NewError(connect.CodeUnavailable, err)
	case errors.Is(err, ErrEntryTooBig):
		return connect.NewError(connect.CodeInvalidArgument, err)
	case errors.Is(err, gate.ErrUnauthenticated): // since the call began
		return connect.NewError(connect.CodeUnauthenticated, err)
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return connect.NewError(connect.CodeInternal, err)
}

func rejectionCode(r state.Reason) connect.Code {
	switch r {
	case state.Malformed:
		return connect.CodeInvalidArgument
	case state.NotFound:
		return connect.CodeNotFound
	case state.Conflict:
		return connect.CodeAlreadyExists
	case state.Exhausted:
		return connect.CodeResourceExhausted
	}
	return connect.CodeFailedPrecondition
}
