package gate_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// procedures lists every method of every service there is, by path.
func procedures() map[string]protoreflect.MethodDescriptor {
	found := make(map[string]protoreflect.MethodDescriptor)
	protoregistry.GlobalFiles.RangeFilesByPackage(pb.File_gram_v1_log_proto.Package(),
		func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				service := file.Services().Get(i)
				if service.FullName() == "gram.v1.PeerService" {
					continue // on the raft port only, where the certificate is the credential
				}
				for j := range service.Methods().Len() {
					method := service.Methods().Get(j)
					found["/"+string(service.FullName())+"/"+string(method.Name())] = method
				}
			}
			return true
		})
	return found
}

func TestEveryProcedureHasAnEntry(t *testing.T) {
	all := procedures()
	if len(all) < 26 {
		t.Fatalf("only %d procedures found", len(all))
	}
	for path := range all {
		if gate.Routes[path] == "" {
			t.Errorf("%s has no entry in gate.Routes: nobody can call it", path)
		}
	}
	for path, scope := range gate.Routes {
		if all[path] == nil {
			t.Errorf("gate.Routes lists %s (%s), which no service has", path, scope)
		}
	}
}

var scopes = []gate.Scope{gate.ScopeRead, gate.ScopeSubmit, gate.ScopeAdmin, gate.ScopeWorker}

// sufficient is written by hand, apart from Scope.Covers.
var sufficient = map[gate.Scope][]gate.Scope{
	gate.ScopeRead:   {gate.ScopeRead, gate.ScopeSubmit, gate.ScopeAdmin},
	gate.ScopeSubmit: {gate.ScopeSubmit, gate.ScopeAdmin},
	gate.ScopeAdmin:  {gate.ScopeAdmin},
	gate.ScopeWorker: {gate.ScopeWorker},
}

// door is a gate over a clock that stands still, before a handler that says it was reached.
type door struct {
	*testing.T
	tokens  map[gate.Scope]gate.Token
	expired map[gate.Scope]gate.Token
	handler http.Handler
}

const reached = "reached the service"

func newDoor(t *testing.T) *door {
	now := time.UnixMilli(1_000_000)
	d := &door{T: t, tokens: make(map[gate.Scope]gate.Token), expired: make(map[gate.Scope]gate.Token)}
	records := make(map[string]gate.Record)
	for i, scope := range scopes {
		d.tokens[scope], d.expired[scope] = gate.NewToken(), gate.NewToken()
		records[d.tokens[scope].ID] = gate.Record{
			SecretSHA256: d.tokens[scope].SecretSHA256(), Scope: scope, ExpiresAt: []int64{0, now.UnixMilli() + 1}[i%2],
		}
		records[d.expired[scope].ID] = gate.Record{SecretSHA256: d.expired[scope].SecretSHA256(), Scope: scope,
			ExpiresAt: now.UnixMilli()}
	}
	lookup := func(id string) (gate.Record, bool) {
		r, ok := records[id]
		return r, ok
	}
	d.handler = gate.New(gate.Policy{Lookup: lookup,
		Now: func() time.Time { return now }}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, reached)
	}))
	return d
}

// call sends a request of a kind that a client may send, with an unreadable body:
// nothing may be decoded before the gate.
func (d *door) call(method, path, contentType, authorization string) *http.Response {
	d.Helper()
	body := &poison{d.T}
	req := httptest.NewRequest(method, path, body)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, req)
	return rec.Result()
}

type poison struct{ t *testing.T }

func (p *poison) Read([]byte) (int, error) {
	p.t.Error("the gate reads the body of a request")
	return 0, io.EOF
}

// kinds are the ways in which procedures are called.
var kinds = []struct{ method, contentType string }{
	{http.MethodPost, "application/json"},
	{http.MethodPost, "application/proto"},
	{http.MethodPost, "application/connect+json"},
	{http.MethodPost, "application/connect+proto"},
	{http.MethodPost, "application/grpc"},
	{http.MethodPost, "application/grpc-web+proto"},
	{http.MethodGet, ""},
	{http.MethodPost, "text/plain"},
	{http.MethodDelete, ""},
	{http.MethodOptions, ""},
}

func (d *door) bad(need gate.Scope) map[string]string {
	good := d.tokens[need]
	wrong, err := gate.ParseToken("gram_" + good.ID + "_" + strings.Repeat("A", 43))
	if err != nil {
		d.Fatal(err)
	}
	return map[string]string{
		"none":             "",
		"malformed":        "Bearer nonsense",
		"another scheme":   "Basic " + good.Reveal(),
		"without scheme":   good.Reveal(),
		"empty":            "Bearer ",
		"no secret":        "Bearer gram_" + good.ID + "_",
		"unknown id":       "Bearer " + gate.NewToken().Reveal(),
		"wrong secret":     "Bearer " + wrong.Reveal(),
		"secret's hash":    fmt.Sprintf("Bearer gram_%s_%s", good.ID, good.SecretSHA256()),
		"secret cut":       "Bearer " + good.Reveal()[:len(good.Reveal())-1],
		"secret and more":  "Bearer " + good.Reveal() + "A",
		"expired just now": "Bearer " + d.expired[need].Reveal(),
	}
}

func TestEveryRouteDeniesAndAdmits(t *testing.T) {
	d := newDoor(t)
	for path := range procedures() {
		need := gate.Routes[path]
		for _, kind := range kinds {
			for name, authorization := range d.bad(need) {
				d.wantDenied(path, kind.method, kind.contentType, name, authorization, connect.CodeUnauthenticated)
			}
			for _, scope := range scopes {
				authorization := "Bearer " + d.tokens[scope].Reveal()
				if !contains(sufficient[need], scope) {
					d.wantDenied(path, kind.method, kind.contentType, "scope "+string(scope), authorization,
						connect.CodePermissionDenied)
					continue
				}
				if body := read(t, d.call(kind.method, path, kind.contentType, authorization)); body != reached {
					t.Errorf("%s %s (%s) with scope %s: %s", kind.method, path, kind.contentType, scope, body)
				}
			}
		}
	}
}

func TestUnlistedPathsAreFoundByNobody(t *testing.T) {
	d := newDoor(t)
	for _, path := range []string{
		"/jobs/", "/jobs//x", "/jobs/../cluster", "/jobs/x/", "/jobs/x/other", "/login/",
		"/healthz/", "/metrics/x", "/Metrics", "/readyz/..", "/debug/pprof/", "/gram.v1.JobService/",
		"/gram.v1.JobService/Get/", "//gram.v1.JobService/Get",
		"/gram.v1.JobService/get", "/gram.v1.JobService/Get%2F", "/gram.v1.JobService/../gram.v1.JobService/Get",
		"/gram.v1.JobService/New",
	} {
		for _, kind := range kinds {
			d.wantDenied(path, kind.method, kind.contentType, "none", "", connect.CodeUnauthenticated)
			for _, scope := range scopes {
				d.wantDenied(path, kind.method, kind.contentType, "scope "+string(scope),
					"Bearer "+d.tokens[scope].Reveal(), connect.CodeNotFound)
			}
			for name, authorization := range d.bad(gate.ScopeAdmin) { // a stranger does not learn what there is
				d.wantDenied(path, kind.method, kind.contentType, name, authorization, connect.CodeUnauthenticated)
			}
		}
	}
}

// Who may not make a call is told what is missing.
func TestADenialNamesTheScopes(t *testing.T) {
	d := newDoor(t)
	submit, kind := "/gram.v1.JobService/Submit", "application/json"
	body := read(t, d.call(http.MethodPost, submit, kind, "Bearer "+d.tokens[gate.ScopeRead].Reveal()))
	if !strings.Contains(body, "it needs submit, the token has read") {
		t.Errorf("it tells %s", body)
	}
}

func contains(list []gate.Scope, scope gate.Scope) bool {
	for _, s := range list {
		if s == scope {
			return true
		}
	}
	return false
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// wantDenied checks that the service was not reached, and that a client of the
// protocol spoken can tell why.
func (d *door) wantDenied(path, method, contentType, name, authorization string, code connect.Code) {
	d.Helper()
	res := d.call(method, path, contentType, authorization)
	body := read(d.T, res)
	status := map[connect.Code]int{connect.CodeUnauthenticated: http.StatusUnauthorized,
		connect.CodePermissionDenied: http.StatusForbidden,
		connect.CodeNotFound:         http.StatusNotFound}[code]
	told := false
	switch {
	case strings.Contains(body, reached):
		d.Errorf("%s %s (%s), token %s: reached", method, path, contentType, name)
		return
	case strings.HasPrefix(contentType, "application/connect+"): // an end-of-stream message
		told = res.StatusCode == http.StatusOK && len(body) > 5 && body[0] == 2 &&
			codeIn(body[5:], "error") == code.String()
	case strings.HasPrefix(contentType, "application/grpc-web"): // trailers in the body
		told = res.StatusCode == http.StatusOK && res.Header.Get("Grpc-Status") == fmt.Sprint(int(code))
	case strings.HasPrefix(contentType, "application/grpc"):
		told = res.StatusCode == http.StatusOK &&
			res.Trailer.Get("Grpc-Status")+res.Header.Get("Grpc-Status") == fmt.Sprint(int(code))
	case contentType == "application/json" || contentType == "application/proto":
		told = res.StatusCode == status && codeIn(body, "") == code.String()
	default:
		told = res.StatusCode == status
	}
	if !told {
		d.Errorf("%s %s (%s), token %s: status %d, %q %v does not tell %v", method, path, contentType, name,
			res.StatusCode, body, res.Trailer, code)
	}
}

// codeIn is the code of a Connect error in JSON, below a key when one is given.
func codeIn(body, key string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &fields) != nil {
		return ""
	}
	if key != "" {
		return codeIn(string(fields[key]), "")
	}
	var code string
	if json.Unmarshal(fields["code"], &code) != nil {
		return ""
	}
	return code
}
