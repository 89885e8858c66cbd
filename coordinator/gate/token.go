// Package gate stands in front of every route: it lets a request through only
// when its route has an entry in the table and its token has the entry's scope.
// Nothing is decoded before that.
package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Sentinel errors of Check.
var (
	// ErrUnauthenticated: no token, a malformed, unknown, wrong or expired one. Which
	// of these is not told.
	ErrUnauthenticated = errors.New("no valid token; set GRAM_TOKEN_FILE or GRAM_TOKEN")
	// ErrForbidden: the token is valid, but its scope is too small for the route.
	ErrForbidden = errors.New("the token's scope does not cover this call")
	// ErrUnknownPath: the token is valid, but the route is not in the table. Without a valid token it is not told.
	ErrUnknownPath = errors.New("nothing is served at this path with this method")
)

// Scope is what a token may do.
type Scope string

// Scopes. Admin covers submit, submit covers read; worker stands by itself.
const (
	ScopeRead   Scope = "read"
	ScopeSubmit Scope = "submit"
	ScopeAdmin  Scope = "admin"
	ScopeWorker Scope = "worker"
)

// ScopePublic is what a page needs that asks for no token. No token has it.
const ScopePublic Scope = "public"

// Covers reports whether a token of scope s may do what needs the other.
func (s Scope) Covers(need Scope) bool {
	switch s {
	case ScopeAdmin:
		return need == ScopeAdmin || need == ScopeSubmit || need == ScopeRead
	case ScopeSubmit:
		return need == ScopeSubmit || need == ScopeRead
	case ScopeRead, ScopeWorker:
		return need == s
	}
	return false
}

// Token is a credential as its holder has it: "gram_ID_SECRET".
type Token struct {
	ID string
	// secret is behind a pointer, so that not even a struct with a Token in an
	// unexported field, where fmt calls no methods, shows it.
	secret *string
}

// NewToken draws a token with 256 random bits.
func NewToken() Token {
	var id [8]byte
	var secret [32]byte
	rand.Read(id[:]) // never fails since Go 1.24
	rand.Read(secret[:])
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	return Token{ID: hex.EncodeToString(id[:]), secret: &text}
}

// Reveal is the token in full; every other way to write it hides the secret.
func (t Token) Reveal() string { return "gram_" + t.ID + "_" + t.plain() }

func (t Token) plain() string {
	if t.secret == nil {
		return ""
	}
	return *t.secret
}

func (t Token) String() string { return "gram_" + t.ID + "_***" }

// Format implements fmt.Formatter for every verb.
func (t Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, t.String()) }

// MarshalText implements encoding.TextMarshaler, and with it JSON.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue implements slog.LogValuer.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// SecretSHA256 is what the cluster keeps of the secret.
func (t Token) SecretSHA256() []byte {
	sum := sha256.Sum256([]byte(t.plain()))
	return sum[:]
}

// ParseToken reads what Reveal wrote.
func ParseToken(s string) (Token, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "gram_")
	id, secret, ok2 := strings.Cut(rest, "_")
	if !ok || !ok2 || id == "" || secret == "" || len(s) > 256 {
		return Token{}, fmt.Errorf("%w: a token looks like gram_ID_SECRET", ErrUnauthenticated)
	}
	return Token{ID: id, secret: &secret}, nil
}

// Record is what the cluster knows of a token.
type Record struct {
	SecretSHA256 []byte
	Scope        Scope
	ExpiresAt    int64 // Unix milliseconds; 0 means never
}

func (r Record) expired(nowUnixMilli int64) bool {
	return r.ExpiresAt != 0 && nowUnixMilli >= r.ExpiresAt
}

// Lookup finds a token's record by id.
type Lookup func(id string) (Record, bool)

// absent is compared with when there is no record, so that an unknown id takes as long as a wrong secret.
var absent = make([]byte, sha256.Size)

// Check verifies an Authorization header against the scope a route needs; "" is that of a route that is not listed.
func Check(lookup Lookup, authorization string, need Scope, nowUnixMilli int64) (id string, err error) {
	bearer, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		return "", ErrUnauthenticated
	}
	token, err := ParseToken(bearer)
	if err != nil {
		return "", ErrUnauthenticated
	}
	record, known := lookup(token.ID)
	want := record.SecretSHA256
	if !known {
		want = absent
	}
	same := subtle.ConstantTimeCompare(token.SecretSHA256(), want) == 1
	switch {
	case !same || !known || record.expired(nowUnixMilli):
		return "", ErrUnauthenticated
	case need == "":
		return token.ID, ErrUnknownPath
	case !record.Scope.Covers(need):
		return token.ID, fmt.Errorf("%w: it needs %s, the token has %s", ErrForbidden, need, record.Scope)
	}
	return token.ID, nil
}
