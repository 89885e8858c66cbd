package coordinator

import (
	"bytes"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/outcome"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

func TestTokenServiceRefuses(t *testing.T) {
	c := startTest(t, testConfig(""))
	token := gate.NewToken()
	for name, m := range map[string]*pb.CreateTokenRequest{
		"no id":           {SecretSha256: token.SecretSHA256(), Scope: "read"},
		"a secret for id": {Id: token.Reveal(), SecretSha256: token.SecretSHA256(), Scope: "read"},
		"no hash":         {Id: token.ID, Scope: "read"},
		"no scope":        {Id: token.ID, SecretSha256: token.SecretSHA256()},
		"unknown scope":   {Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: "root"},
		"a life before":   {Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: "read", TtlMs: -1},
		"an age":          {Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: "read", TtlMs: 1 << 62},
		"a long name": {Id: token.ID, SecretSha256: token.SecretSHA256(), Scope: "read",
			Name: string(bytes.Repeat([]byte("n"), 64))},
	} {
		_, err := c.services.Tokens.CreateToken(t.Context(), connect.NewRequest(m))
		if got := connect.CodeOf(outcome.Wire(err)); got != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := c.services.Tokens.RevokeToken(t.Context(),
		connect.NewRequest(&pb.RevokeTokenRequest{Id: c.AdminToken().ID}))
	if connect.CodeOf(outcome.Wire(err)) != connect.CodeFailedPrecondition {
		t.Errorf("the last admin's token: %v", err)
	}
}

// A watch that is open ends when its token is revoked, over a real port and by a follower too.
func TestARevokedTokensWatchEnds(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr = "127.0.0.1:0"
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	token := makeToken(t, c, gate.ScopeRead, 0)
	client := gramv1connect.NewJobServiceClient(clientShowing(t, c), "https://"+c.Addr(), as(token))
	stream, err := client.Watch(t.Context(), connect.NewRequest(&pb.WatchRequest{Id: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() {
		t.Fatal(stream.Err())
	}
	revokeToken(t, c, token.ID)
	for stream.Receive() { // what was on its way
	}
	if connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
		t.Errorf("the watch ended with %v", stream.Err())
	}
	if _, err := client.Get(t.Context(),
		connect.NewRequest(&pb.GetRequest{Id: "a"})); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("another call: %v", err)
	}
}

// The file of a first token that was revoked does not bring it back.
func TestARevokedFirstTokenStaysRevoked(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	c := startTest(t, cfg)
	first := c.AdminToken()
	makeToken(t, c, gate.ScopeAdmin, 0)
	revokeToken(t, c, first.ID)
	for _, restart := range []string{"log", "snapshot"} {
		if restart == "snapshot" {
			snapshotNow(t, c)
		}
		stopTest(t, c)
		c = startTest(t, cfg)
		if c.AdminToken().ID != first.ID {
			t.Fatal("the file is gone; the test shows nothing")
		}
		header := "Bearer " + first.Reveal()
		if _, err := gate.Check(c.lookupToken, header, gate.ScopeRead, time.Now().UnixMilli()); err == nil {
			t.Errorf("after a restart from the %s the revoked token is valid", restart)
		}
	}
}
