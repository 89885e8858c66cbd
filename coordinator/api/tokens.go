package api

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Tokens implements gramv1connect.TokenServiceHandler.
type Tokens struct{ Cluster }

// maxTokenLife is the longest time to live; a token may also never expire.
const maxTokenLife = 100 * 365 * 24 * time.Hour

var tokenID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// CreateToken stores the hash of a secret that the client keeps.
func (s *Tokens) CreateToken(
	ctx context.Context, req *connect.Request[pb.CreateTokenRequest],
) (*connect.Response[pb.CreateTokenResponse], error) {
	m := req.Msg
	life := time.Duration(m.GetTtlMs()) * time.Millisecond // checked below before it counts
	switch {
	case !tokenID.MatchString(m.GetId()):
		return nil, connect.NewError(connect.CodeInvalidArgument,
			errors.New("a token's id is 16 hexadecimal digits, drawn at random"))
	case !slices.Contains([]gate.Scope{gate.ScopeRead, gate.ScopeSubmit, gate.ScopeAdmin, gate.ScopeWorker},
		gate.Scope(m.GetScope())):
		return nil, connect.NewError(connect.CodeInvalidArgument,
			errors.New("a token's scope is read, submit, admin or worker"))
	case m.GetTtlMs() < 0 || m.GetTtlMs() > maxTokenLife.Milliseconds():
		return nil, connect.NewError(connect.CodeInvalidArgument,
			errors.New("a token lives from a millisecond to 100 years, or with 0 without end"))
	}
	put := &pb.PutToken{Id: m.GetId(), SecretSha256: m.GetSecretSha256(), Scope: m.GetScope(), Name: m.GetName()}
	if life > 0 {
		put.ExpiresUnixMs = s.Wall().Add(life).UnixMilli()
	}
	reply, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_PutToken{PutToken: put}})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.CreateTokenResponse{Token: s.describeToken(*reply.Token)}), nil
}

// ListTokens lists what is known of tokens.
func (s *Tokens) ListTokens(
	ctx context.Context, _ *connect.Request[pb.ListTokensRequest],
) (*connect.Response[pb.ListTokensResponse], error) {
	view, _, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	res := &pb.ListTokensResponse{}
	view.Tokens.Each(func(t state.Token) bool {
		res.Tokens = append(res.Tokens, s.describeToken(t))
		return true
	})
	return connect.NewResponse(res), nil
}

// RevokeToken ends a token.
func (s *Tokens) RevokeToken(
	ctx context.Context, req *connect.Request[pb.RevokeTokenRequest],
) (*connect.Response[pb.RevokeTokenResponse], error) {
	revoke := &pb.RevokeToken{Id: req.Msg.GetId()}
	if _, err := s.Agree(ctx, &pb.Command{Body: &pb.Command_RevokeToken{RevokeToken: revoke}}); err != nil {
		return nil, err
	}
	return connect.NewResponse(&pb.RevokeTokenResponse{}), nil
}

func (s *Tokens) describeToken(t state.Token) *pb.TokenInfo {
	return &pb.TokenInfo{
		Id: t.ID, Name: t.Name, Scope: t.Scope, CreatedUnixMs: t.CreatedAt, ExpiresUnixMs: t.ExpiresAt,
		Expired: t.Expired(s.Admitted().UnixMilli()),
	}
}
