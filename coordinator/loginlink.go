package coordinator

import (
	"errors"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/audit"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/web"
)

// Life of a link that logs in, and of the token that it is exchanged for.
const (
	LoginLinkLife  = 10 * time.Minute
	loginTokenLife = 7 * 24 * time.Hour
)

// ErrNotLoopback: a link logs in on the machine of the cluster alone.
var ErrNotLoopback = errors.New("coordinator: a link that logs in is made for a loopback address only")

// LoginLink makes the address of a page that logs in one browser, once, within LoginLinkLife. The browser gets a token
// of its own, of scope submit. A link ends the one before. It is refused where other machines reach the API.
func (c *Coordinator) LoginLink() (string, error) {
	host, _, err := net.SplitHostPort(c.Addr())
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return "", ErrNotLoopback
	}
	return "https://" + c.Addr() + c.site.LinkOnce(web.Once{
		Until: c.clock.Wall().Add(LoginLinkLife), Now: c.clock.Wall, Grant: c.grantLogin,
		Refused: func(r *http.Request) { c.refused(r, gate.Caller{}, gate.ErrUnauthenticated) },
	}), nil
}

// grantLogin makes the token of a browser that logs in by a link.
func (c *Coordinator) grantLogin(r *http.Request) (string, error) {
	token := gate.NewToken()
	trail := &audit.Trail{}
	ctx := audit.With(r.Context(), trail)
	_, err := c.services.Tokens.CreateToken(ctx, connect.NewRequest(&pb.CreateTokenRequest{
		Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: string(gate.ScopeSubmit), Name: "login link",
		TtlMs: loginTokenLife.Milliseconds()}))
	if err != nil {
		return "", err
	}
	c.trails.Log.Write(audit.Record{Time: c.trails.Now(), Member: c.trails.Member, Who: "login link",
		What: "TokenService.CreateToken", Object: token.ID, Result: audit.OK, Source: gate.OriginOf(r).Address,
		RaftIndex: trail.Index})
	return token.Reveal(), nil
}
