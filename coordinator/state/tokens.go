package state

import (
	"unicode"

	iradix "github.com/hashicorp/go-immutable-radix/v2"

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

// Tokens are the tokens of a cluster. They are never changed: put returns others.
type Tokens struct {
	tree *iradix.Tree[Token] // by id, revoked first tokens included
}

func newTokens() Tokens { return Tokens{tree: iradix.New[Token]()} }

// Get returns the token with this id, unless it is revoked.
func (tokens Tokens) Get(id string) (Token, bool) {
	token, ok := tokens.tree.Get([]byte(id))
	return token, ok && !token.revoked
}

// Revoked reports whether a first token with this id was revoked.
func (tokens Tokens) Revoked(id string) bool {
	token, ok := tokens.tree.Get([]byte(id))
	return ok && token.revoked
}

// Each visits the tokens that are not revoked in order of id until visit returns false.
func (tokens Tokens) Each(visit func(Token) bool) {
	tokens.tree.Root().Walk(func(_ []byte, token Token) bool { return !token.revoked && !visit(token) })
}

// Same reports whether these are the other tokens; false may be wrong, true is not.
func (tokens Tokens) Same(other Tokens) bool { return tokens.tree == other.tree }

// Expired reports whether the token is no longer valid at a time.
func (t Token) Expired(nowUnixMilli int64) bool {
	return t.ExpiresAt != 0 && nowUnixMilli >= t.ExpiresAt
}

// outlives reports whether t is valid as long as the other, or longer.
func (t Token) outlives(other Token) bool {
	return t.ExpiresAt == 0 || other.ExpiresAt != 0 && t.ExpiresAt >= other.ExpiresAt
}

func (tokens Tokens) put(token Token) Tokens {
	tokens.tree, _, _ = tokens.tree.Insert([]byte(token.ID), token)
	return tokens
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
	if old, ok := s.Tokens.tree.Get([]byte(token.ID)); ok {
		switch {
		case old.revoked:
			return s, reject(Conflict, "token %s was revoked", token.ID)
		case string(old.SecretSHA256) != string(token.SecretSHA256) || old.Scope != token.Scope:
			return s, reject(Conflict, "token %s exists with another secret or scope", token.ID)
		}
		return s, Reply{Token: &old}
	}
	if s.Tokens = s.Tokens.makeRoom(s.Now); s.Tokens.live() >= MaxTokens {
		return s, reject(Exhausted, "there are %d tokens, and no more are kept; revoke some", MaxTokens)
	}
	s.Tokens = s.Tokens.put(token)
	return s, Reply{Token: &token}
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

func (tokens Tokens) live() (n int) {
	tokens.Each(func(Token) bool {
		n++
		return true
	})
	return n
}

// makeRoom forgets the expired tokens where there is no room for another.
func (tokens Tokens) makeRoom(now int64) Tokens {
	if tokens.tree.Len() < MaxTokens {
		return tokens
	}
	all := tokens
	all.Each(func(t Token) bool {
		if t.Expired(now) && !t.First {
			tokens.tree, _, _ = tokens.tree.Delete([]byte(t.ID))
		}
		return true
	})
	return tokens
}

// applyRevokeToken ends a token. It never shortens the time for which the cluster has an admin.
func applyRevokeToken(s State, cmd *pb.RevokeToken) (State, Reply) {
	token, found := s.Tokens.Get(cmd.GetId())
	if !found {
		return s, reject(NotFound, "no token %q", cmd.GetId())
	}
	if token.Scope == scopeAdmin && !token.Expired(s.Now) && !s.Tokens.otherAdmin(token) {
		return s, reject(LastAdmin,
			"token %s is the last of scope admin, or the one that is valid longest: make another that is valid as long, then revoke it", token.ID)
	}
	if token.First {
		s.Tokens = s.Tokens.put(Token{ID: token.ID, First: true, revoked: true})
		return s, Reply{Token: &token}
	}
	s.Tokens.tree, _, _ = s.Tokens.tree.Delete([]byte(token.ID))
	return s, Reply{Token: &token}
}

// otherAdmin reports whether another admin's token is valid as long as this one.
func (tokens Tokens) otherAdmin(token Token) (found bool) {
	tokens.Each(func(t Token) bool {
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
