package bounds

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"golang.org/x/time/rate"
)

// wastedPerSecond is how many calls of a connection may go on being refused for their token or their rate, or be taken
// back by the peer before they are answered, beyond the burst of limits.wasted. A connection with more is closed: in
// HTTP/2 such calls cost the peer next to nothing.
const wastedPerSecond = 10

// conduct counts the wasted calls of one connection.
type conduct struct {
	conn   net.Conn
	wasted *rate.Limiter
}

type conductKey struct{}

// WatchConduct gives every connection of a server its count.
func (l Limits) WatchConduct(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // closing a TLS connection would first wait to say so
	}
	return context.WithValue(ctx, conductKey{},
		&conduct{conn: conn, wasted: rate.NewLimiter(wastedPerSecond, l.Wasted)})
}

// Waste counts a call that was for nothing, and closes a connection that has had too many.
func Waste(ctx context.Context) {
	if c, ok := ctx.Value(conductKey{}).(*conduct); ok && !c.wasted.Allow() {
		_ = c.conn.Close() // it may be closed already
	}
}

// CountWaste counts calls that the peer took back before they were answered.
func CountWaste(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			Waste(r.Context())
		}
	})
}
