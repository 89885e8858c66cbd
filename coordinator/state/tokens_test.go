package state_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"pgregory.net/rapid"
)

func drawToken(t *rapid.T, id string) *pb.PutToken {
	return &pb.PutToken{
		Id: id, SecretSha256: rapid.SampledFrom([]*pb.ObjectRef{ref(1), ref(2), {}}).Draw(t, "secret").Sha256,
		Scope:         rapid.SampledFrom([]string{"admin", "read", ""}).Draw(t, "scope"),
		Name:          rapid.SampledFrom([]string{"", "ci", "a\nb"}).Draw(t, "name"),
		ExpiresUnixMs: rapid.Int64Range(-1, 120).Draw(t, "expires"), First: rapid.Bool().Draw(t, "first"),
		Revoked: rapid.Bool().Draw(t, "revoked"), CreatedUnixMs: 7, // of snapshots: a command's do not count
	}
}

// adminUntil is the time until which somebody can make tokens; 0 means without end, -1 not even now.
func adminUntil(s state.State) int64 {
	until := int64(-1)
	s.Tokens.Each(func(token state.Token) bool {
		if token.Scope == "admin" && token.ExpiresAt == 0 {
			until = 0
			return false
		}
		if token.Scope == "admin" && !token.Expired(s.Now) {
			until = max(until, token.ExpiresAt)
		}
		return true
	})
	return until
}

// No command shortens the time for which the cluster has an admin, and what was revoked of the first
// tokens stays so.
func checkTokens(t *rapid.T, before, after state.State) {
	was, is := adminUntil(before), adminUntil(after)
	if was == 0 && is != 0 || was > after.Now && is != 0 && is < was {
		t.Fatalf("an admin until %d became one until %d at %d", was, is, after.Now)
	}
	for _, id := range jobIDs {
		if _, there := after.Tokens.Get(id); before.Tokens.Revoked(id) && (there || !after.Tokens.Revoked(id)) {
			t.Fatalf("token %q came back", id)
		}
	}
}

func put(token *pb.PutToken) *pb.Command {
	return &pb.Command{Body: &pb.Command_PutToken{PutToken: token}}
}

func revoke(id string) *pb.Command {
	return &pb.Command{Body: &pb.Command_RevokeToken{RevokeToken: &pb.RevokeToken{Id: id}}}
}

func TestTokens(t *testing.T) {
	hash := func(secret byte) []byte { return ref(secret).Sha256 }
	s, _ := run(t, state.New(), put(&pb.PutToken{Id: "t1", SecretSha256: hash(1), Scope: "admin", First: true}))
	refused(t, s, put(&pb.PutToken{Id: "t1", SecretSha256: hash(2), Scope: "admin"}), state.Conflict, "")
	refused(t, s, put(&pb.PutToken{Id: "t1", SecretSha256: hash(1), Scope: "worker"}), state.Conflict, "")
	refused(t, s, put(&pb.PutToken{Id: "t2", SecretSha256: hash(1)[1:], Scope: "admin"}), state.Malformed, "")
	refused(t, s, put(&pb.PutToken{Id: "t2", SecretSha256: hash(1), Scope: "admin", Name: "two\nlines"}),
		state.Malformed, "")
	refused(t, s, revoke("t1"), state.LastAdmin, "")
	refused(t, s, revoke("t2"), state.NotFound, "")

	brief := put(&pb.PutToken{Id: "t2", SecretSha256: hash(2), Scope: "admin", Name: "brief", ExpiresUnixMs: 50})
	brief.NowUnixMs = 10
	s, _ = run(t, s, brief, put(&pb.PutToken{Id: "t2", SecretSha256: hash(2), Scope: "admin", ExpiresUnixMs: 99}))
	if token, ok := s.Tokens.Get("t2"); !ok || token.Name != "brief" || token.CreatedAt != 10 || token.ExpiresAt != 50 {
		t.Errorf("the first of two equal tokens counts: %+v, %v", token, ok)
	}
	refused(t, s, revoke("t1"), state.LastAdmin, "") // t2 would leave nobody at 50
	s, _ = run(t, s, put(&pb.PutToken{Id: "t3", SecretSha256: hash(3), Scope: "admin"}), revoke("t1"))
	if _, ok := s.Tokens.Get("t1"); ok || !s.Tokens.Revoked("t1") {
		t.Error("a revoked token is still known")
	}
	refused(t, s, put(&pb.PutToken{Id: "t1", SecretSha256: hash(1), Scope: "admin", First: true}), state.Conflict, "")
	s, _ = run(t, s, revoke("t2"))
	if s.Tokens.Revoked("t2") {
		t.Error("an id is remembered that no file brings back")
	}
}

// Two admins. One may be revoked if the other is valid as long, to the millisecond.
func TestRevokingAnAdminNeedsAnotherAsLong(t *testing.T) {
	for _, c := range []struct {
		own, other int64 // when they expire; 0 is never
		may        bool
	}{{50, 50, true}, {50, 51, true}, {50, 49, false}, {50, 0, true}, {0, 50, false}, {0, 0, true}} {
		admin := func(id string, secret byte, expires int64) *pb.Command {
			return put(&pb.PutToken{Id: id, SecretSha256: ref(secret).Sha256, Scope: "admin", ExpiresUnixMs: expires})
		}
		s, _ := run(t, state.New(), admin("own", 1, c.own), admin("other", 2, c.other))
		if _, reply := state.Apply(s, revoke("own")); (reply.Err == nil) != c.may {
			t.Errorf("until %d, with another until %d: %v", c.own, c.other, reply.Err)
		}
	}
}

// The fields of a token at their bounds, and one beyond.
func TestTheFieldsOfATokenAreBounded(t *testing.T) {
	for _, c := range []struct {
		id, name, scope int // bytes
		expires         int64
		taken           bool
	}{
		{64, 63, 16, 1, true}, {1, 0, 1, 0, true}, {65, 0, 1, 0, false}, {0, 0, 1, 0, false}, {1, 64, 1, 0, false},
		{1, 0, 17, 0, false}, {1, 0, 0, 0, false}, {1, 0, 1, -1, false},
	} {
		cmd := put(&pb.PutToken{
			Id: strings.Repeat("t", c.id), Name: strings.Repeat("n", c.name), Scope: strings.Repeat("s", c.scope),
			SecretSha256: ref(1).Sha256, ExpiresUnixMs: c.expires,
		})
		if _, reply := state.Apply(state.New(), cmd); (reply.Err == nil) != c.taken {
			t.Errorf("%+v: %v", c, reply.Err)
		}
	}
}

func TestTokensAreBounded(t *testing.T) {
	s := state.New()
	for i := range state.MaxTokens {
		s, _ = run(t, s, put(&pb.PutToken{Id: fmt.Sprint("t", i), SecretSha256: ref(1).Sha256, Scope: "read",
			ExpiresUnixMs: int64(10 + i%2)}))
	}
	more := put(&pb.PutToken{Id: "more", SecretSha256: ref(1).Sha256, Scope: "read"})
	refused(t, s, more, state.Exhausted, "")
	more.NowUnixMs = 10 // half of them are over
	s, _ = run(t, s, more)
	count := 0
	s.Tokens.Each(func(state.Token) bool { count++; return true })
	if count != state.MaxTokens/2+1 {
		t.Errorf("%d tokens are left", count)
	}
}

// Same compares the tokens of two states.
func TestSameTokens(t *testing.T) {
	before, _ := run(t, state.New(), put(&pb.PutToken{Id: "t1", SecretSha256: ref(1).Sha256, Scope: "read"}))
	beside, _ := run(t, before, submit("a", "h"))
	changed, _ := run(t, before, revoke("t1"))
	if !beside.Tokens.Same(before.Tokens) || changed.Tokens.Same(before.Tokens) {
		t.Errorf("after a submit the tokens are the same: %v, after a revocation: %v",
			beside.Tokens.Same(before.Tokens), changed.Tokens.Same(before.Tokens))
	}
}

func TestTokensOfASnapshot(t *testing.T) {
	s, _ := run(t, state.New(),
		put(&pb.PutToken{Id: "t1", SecretSha256: ref(1).Sha256, Scope: "read", Name: "ci", ExpiresUnixMs: 5,
			First: true}),
		put(&pb.PutToken{Id: "t2", SecretSha256: ref(2).Sha256, Scope: "worker", First: true}), revoke("t2"))
	var text bytes.Buffer
	if err := s.Encode(&text); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text.Bytes(), ref(2).Sha256) {
		t.Error("the snapshot holds the hash of a revoked token")
	}
	restored, err := state.Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := restored.Tokens.Get("t2"); ok || !restored.Tokens.Revoked("t2") || restored.Digest() != s.Digest() {
		t.Error("the revoked token came back")
	}
}
