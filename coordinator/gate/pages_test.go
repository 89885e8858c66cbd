package gate_test

import (
	"net/http"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
)

// pages is written by hand, apart from gate.Pages.
var pages = map[string]gate.Scope{"/healthz": gate.ScopePublic, "/readyz": gate.ScopePublic, "/metrics": gate.ScopeRead}

func TestPagesAreTheseAndNoOthers(t *testing.T) {
	if len(gate.Pages) != len(pages) {
		t.Errorf("pages %v", gate.Pages)
	}
	for path, scope := range pages {
		if gate.Pages[path] != scope {
			t.Errorf("%s needs %q, want %q", path, gate.Pages[path], scope)
		}
		if _, both := gate.Routes[path]; both {
			t.Errorf("%s is a procedure as well", path)
		}
	}
}

// A page is read with GET or HEAD, by whom its scope admits; probes need no token, and a bad one
// does them no harm.
func TestEveryPageDeniesAndAdmits(t *testing.T) {
	d := newDoor(t)
	for path, need := range pages {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if need == gate.ScopePublic {
				for name, authorization := range d.bad(gate.ScopeRead) {
					if body := read(t, d.call(method, path, "", authorization)); body != reached {
						t.Errorf("%s %s, token %s: %s", method, path, name, body)
					}
				}
				continue
			}
			for name, authorization := range d.bad(need) {
				d.wantDenied(path, method, "", name, authorization, connect.CodeUnauthenticated)
			}
			for _, scope := range scopes {
				authorization := "Bearer " + d.tokens[scope].Reveal()
				if !contains(sufficient[need], scope) {
					d.wantDenied(path, method, "", "scope "+string(scope), authorization, connect.CodePermissionDenied)
				} else if body := read(t, d.call(method, path, "", authorization)); body != reached {
					t.Errorf("%s %s with scope %s: %s", method, path, scope, body)
				}
			}
		}
	}
}

// With another method a page is no route: nobody may, whatever the token.
func TestPagesAreOnlyRead(t *testing.T) {
	d := newDoor(t)
	for path := range pages {
		for _, kind := range kinds {
			if kind.method == http.MethodGet {
				continue
			}
			d.wantDenied(path, kind.method, kind.contentType, "none", "", connect.CodeUnauthenticated)
			for _, scope := range scopes {
				d.wantDenied(path, kind.method, kind.contentType, "scope "+string(scope),
					"Bearer "+d.tokens[scope].Reveal(), connect.CodeNotFound)
			}
		}
	}
}
