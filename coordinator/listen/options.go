// Package listen is the coordinator's doors: its ports, what is asked of a request before it is read, the pages of a
// member, and the way of a call to the leader.
package listen

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"

	"connectrpc.com/connect"
)

// maxMessage bounds a request.
const maxMessage = 4 << 20

// compressedFrom is the size from which an answer is compressed: below, compressing costs more than it saves.
const compressedFrom = 4 << 10

// Uncompressed are options of a service whose answers are not compressed: its clients are near, and wait for them.
func Uncompressed() connect.HandlerOption { return connect.WithCompressMinBytes(math.MaxInt) }

// Options bound and check every request of a service; the interceptors see its calls.
func Options(logger *slog.Logger, interceptors ...connect.Interceptor) connect.HandlerOption {
	return connect.WithHandlerOptions(
		connect.WithReadMaxBytes(maxMessage),
		compression(),
		strictBodies(),
		connect.WithInterceptors(interceptors...),
		connect.WithRecover(func(_ context.Context, spec connect.Spec, _ http.Header, cause any) error {
			logger.Error("panic in a call", "procedure", spec.Procedure, "cause", cause)
			return connect.NewError(connect.CodeInternal, errors.New("internal fault; see the coordinator's log"))
		}),
	)
}
