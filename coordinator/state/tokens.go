package state

import (
	"unicode"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// Bounds on tokens.
const (
	MaxTokens     = 1000 // that are not revoked, expired ones included until room is needed
	MaxTokenName  = 63   // bytes
	maxTokenID    = 64
	maxTokenScope = 16
)

// scopeAdmin is the scope that makes and revokes tokens; what scopes cover is the gate's matter.
const scopeAdmin = "admin"

// Token is a credential's record; only the secret's hash is known.
type Token struct {
	ID           string
	Name         string // for people
	SecretSHA256 []byte
	Scope        string
	CreatedAt    int64 // Unix milliseconds, as proposed
	ExpiresAt    int64 // Unix milliseconds; 0 means never
	// First: a member made it at its start and keeps it in a file. Revoked, its id is remembered,
	// so that no later start makes it valid again.
	First   bool
	revoked bool
}

// Token returns the token with this id, unless it is revoked.
func (s State) Token(id string) (Token, bool) {
	token, ok := s.tokens.Get([]byte(id))
	return token, ok && !token.revoked
}

// TokenRevoked reports whether a first token with this id was revoked.
func (s State) TokenRevoked(id string) bool {
	token, ok := s.tokens.Get([]byte(id))
	return ok && token.revoked
}

// EachToken visits the tokens that are not revoked in order of id until visit returns false.
func (s State) EachToken(visit func(Token) bool) {
	s.tokens.Root().Walk(func(_ []byte, token Token) bool { return !token.revoked && !visit(token) })
}

// SameTokens reports whether two states share their tokens; false may be wrong, true is not.
func (s State) SameTokens(other State) bool { return s.tokens == other.tokens }

// Expired reports whether the token is no longer valid at a time.
func (t Token) Expired(nowUnixMilli int64) bool {
	return t.ExpiresAt != 0 && nowUnixMilli >= t.ExpiresAt
}

// outlives reports whether t is valid as long as the other, or longer.
func (t Token) outlives(other Token) bool {
	return t.ExpiresAt == 0 || other.ExpiresAt != 0 && t.ExpiresAt >= other.ExpiresAt
}

func (s State) putToken(token Token) State {
	s.tokens, _, _ = s.tokens.Insert([]byte(token.ID), token)
	return s
}

// applyPutToken stores a token; the same token again is no change, whenever it would expire.
func applyPutToken(s State, cmd *pb.PutToken) (State, Reply) {
	token := tokenFrom(cmd)
	token.CreatedAt, token.revoked = s.Now, false
	switch {
	case token.ID == "" || len(token.ID) > maxTokenID || len(token.SecretSHA256) != 32 || token.Scope == "" ||
		len(token.Scope) > maxTokenScope:
		return s, reject(Malformed, "a token needs an id of at most %d bytes, a SHA-256 and a scope", maxTokenID)
	case token.ExpiresAt < 0 || !validTokenName(token.Name):
		return s, reject(Malformed, "a token's name has at most %d printable characters, and it expires after 1970",
			MaxTokenName)
	}
	if old, ok := s.tokens.Get([]byte(token.ID)); ok {
		switch {
		case old.revoked:
			return s, reject(Conflict, "token %s was revoked", token.ID)
		case string(old.SecretSHA256) != string(token.SecretSHA256) || old.Scope != token.Scope:
			return s, reject(Conflict, "token %s exists with another secret or scope", token.ID)
		}
		return s, Reply{Token: &old}
	}
	if s = s.roomForToken(); s.liveTokens() >= MaxTokens {
		return s, reject(Exhausted, "there are %d tokens, and no more are kept; revoke some", MaxTokens)
	}
	return s.putToken(token), Reply{Token: &token}
}

func validTokenName(name string) bool {
	for _, r := range name {
		// U+FFFD, which stands for invalid UTF-8, is printable and harmless: protobuf refuses that
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return len(name) <= MaxTokenName
}

func (s State) liveTokens() (n int) {
	s.EachToken(func(Token) bool {
		n++
		return true
	})
	return n
}

// roomForToken forgets the expired tokens where there is no room for another.
func (s State) roomForToken() State {
	if s.tokens.Len() < MaxTokens {
		return s
	}
	old := s
	old.EachToken(func(t Token) bool {
		if t.Expired(s.Now) && !t.First {
			s.tokens, _, _ = s.tokens.Delete([]byte(t.ID))
		}
		return true
	})
	return s
}

// applyRevokeToken ends a token. It never shortens the time for which the cluster has an admin.
func applyRevokeToken(s State, cmd *pb.RevokeToken) (State, Reply) {
	token, found := s.Token(cmd.GetId())
	if !found {
		return s, reject(NotFound, "no token %q", cmd.GetId())
	}
	if token.Scope == scopeAdmin && !token.Expired(s.Now) && !s.otherAdmin(token) {
		return s, reject(LastAdmin,
			"token %s is the last of scope admin, or the one that is valid longest: make another that is valid as long, then revoke it", token.ID)
	}
	if token.First {
		return s.putToken(Token{ID: token.ID, First: true, revoked: true}), Reply{Token: &token}
	}
	s.tokens, _, _ = s.tokens.Delete([]byte(token.ID))
	return s, Reply{Token: &token}
}

// otherAdmin reports whether another admin's token is valid as long as this one.
func (s State) otherAdmin(token Token) (found bool) {
	s.EachToken(func(t Token) bool {
		found = t.Scope == scopeAdmin && t.ID != token.ID && t.outlives(token)
		return !found
	})
	return found
}

func (t Token) record() *pb.PutToken {
	return &pb.PutToken{
		Id: t.ID, Name: t.Name, SecretSha256: t.SecretSHA256, Scope: t.Scope, ExpiresUnixMs: t.ExpiresAt,
		First: t.First, CreatedUnixMs: t.CreatedAt, Revoked: t.revoked,
	}
}

func tokenFrom(r *pb.PutToken) Token {
	return Token{
		ID: r.GetId(), Name: r.GetName(), SecretSHA256: r.GetSecretSha256(), Scope: r.GetScope(),
		ExpiresAt: r.GetExpiresUnixMs(),
		First:     r.GetFirst(), CreatedAt: r.GetCreatedUnixMs(), revoked: r.GetRevoked(),
	}
}
