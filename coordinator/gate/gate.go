package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/pki"
)

// Policy says what a gate goes by. Lookup and Now are required.
type Policy struct {
	Lookup Lookup
	Now    func() time.Time
	// WorkerCertificates: a worker's calls must show a certificate with the worker's role.
	WorkerCertificates bool
	// Rate is how many calls per second a token may make, with bursts of twice as many. A
	// worker's token, which a fleet shares, may make ten times as many. 0 means any number.
	Rate float64
	// Host reports whether this server goes by a name; nil means by any.
	Host func(name string) bool
}

// Gate is the one door.
type Gate struct {
	policy Policy
	errors *connect.ErrorWriter
	calls  calls
	rates  rates
	denied func(r *http.Request, caller Caller, reason error) // may be nil
}

// New makes a gate over the cluster's tokens.
func New(policy Policy) *Gate {
	return &Gate{policy: policy, errors: connect.NewErrorWriter(), calls: calls{running: map[*call]bool{}},
		rates: rates{limit: policy.Rate}}
}

// RoleHeader tells a member whose gate comes second which role the first one saw. It counts
// between members only.
const RoleHeader = "Gram-Certificate-Role"

// KeyHeader tells it the digest of that certificate's public key.
const KeyHeader = "Gram-Certificate-Key"

// Wrap puts the gate in front of next. Its calls end when their token does.
func (g *Gate) Wrap(next http.Handler) http.Handler {
	return g.wrap(next, func(r *http.Request) (Caller, error) {
		r.Header.Del(RoleHeader)
		r.Header.Del(KeyHeader)
		if err := g.sameOrigin(r); err != nil {
			return Caller{}, err
		}
		showCookie(r)
		role, err := roleShown(r)
		if err != nil {
			return Caller{}, err
		}
		caller, err := g.admit(r, role)
		caller.Key = keyShown(r)
		if err == nil && caller.TokenID != "" && !isUnmetered(r) {
			err = g.rates.take(caller, g.policy.Now())
		}
		return caller, err
	})
}

// WrapCarried puts the gate in front of calls that other members have let in and hand on. A caller who can make
// them shows a coordinator's certificate, and is believed the role that the client showed.
func (g *Gate) WrapCarried(next http.Handler) http.Handler {
	return g.wrap(next, func(r *http.Request) (Caller, error) {
		caller, err := g.admit(r, pki.Role(r.Header.Get(RoleHeader)))
		caller.Key = r.Header.Get(KeyHeader)
		return caller, err
	})
}

func (g *Gate) wrap(next http.Handler, examine func(*http.Request) (Caller, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		caller, err := examine(r)
		if err != nil {
			if g.denied != nil {
				g.denied(r, caller, err)
			}
			if !askLogin(w, r, err) {
				g.deny(w, r, err)
			}
			return
		}
		g.pass(w, withCaller(r, caller), next)
	})
}

var errWorkersCertificate = fmt.Errorf("%w: a worker's certificate opens a worker's calls only", ErrForbidden)

func (g *Gate) admit(r *http.Request, role pki.Role) (Caller, error) {
	need := needed(r)
	if need == ScopePublic {
		if _, site := OfSite(r); site && role == pki.RoleWorker { // the login would look at any token
			return Caller{Role: role}, errWorkersCertificate
		}
		return Caller{Role: role}, nil
	}
	id, err := Check(g.policy.Lookup, r.Header.Get("Authorization"), need, g.policy.Now().UnixMilli())
	record, _ := g.policy.Lookup(id)
	caller := Caller{TokenID: id, Scope: record.Scope, Role: role}
	switch {
	case err != nil:
		return caller, err
	case role == pki.RoleWorker && need != ScopeWorker:
		return caller, errWorkersCertificate
	case role != pki.RoleWorker && need == ScopeWorker && g.policy.WorkerCertificates:
		return caller, fmt.Errorf("%w: this cluster takes workers with a worker's certificate only (`gram pki issue "+
			"--role worker`, `gram worker --cert --key`)", ErrForbidden)
	}
	return caller, nil
}

// needed is the scope that a request needs. What is not listed needs "", which no scope covers; its
// token is checked all the same, so that a stranger learns nothing of routes, and then it is not found.
func needed(r *http.Request) Scope {
	if scope := Pages[r.URL.Path]; scope != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return scope
	}
	if scope, ok := OfSite(r); ok {
		return scope
	}
	return Routes[r.URL.Path]
}

// roleShown is the role of the client's certificate, "" where it shows none. A certificate without a role opens
// nothing.
func roleShown(r *http.Request) (pki.Role, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "", nil
	}
	role, err := pki.RoleOf(r.TLS.PeerCertificates[0])
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return role, nil
}

// keyShown is the digest of the public key in the client's certificate, "" where it shows none.
func keyShown(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	sum := sha256.Sum256(r.TLS.PeerCertificates[0].RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func (g *Gate) deny(w http.ResponseWriter, r *http.Request, err error) {
	code, status := connect.CodeUnauthenticated, http.StatusUnauthorized
	switch {
	case errors.Is(err, ErrForbidden):
		code, status = connect.CodePermissionDenied, http.StatusForbidden
	case errors.Is(err, ErrUnknownPath):
		code, status = connect.CodeNotFound, http.StatusNotFound
	case errors.Is(err, ErrTooManyCalls):
		code, status = connect.CodeResourceExhausted, http.StatusTooManyRequests
		w.Header().Set("Retry-After", "1")
	}
	if !g.errors.IsSupported(r) {
		http.Error(w, err.Error(), status)
		return
	}
	// A failed write means the client has gone; there is nobody to tell.
	_ = g.errors.Write(w, r, connect.NewError(code, err))
}
