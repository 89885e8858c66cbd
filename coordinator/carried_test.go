package coordinator

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// What a client shows to a follower counts at the leader: its certificate's role, and that its token is valid still.
func TestCredentialsByAFollower(t *testing.T) {
	t.Parallel()
	q := &quorum{T: t, members: make(map[string]*Coordinator)}
	q.authorise()
	var worker gate.Token
	for i := range 2 {
		cfg := q.config(fmt.Sprint("c", i+1), t.TempDir())
		cfg.WorkerCertificates = true
		c, err := q.startWith(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			worker = c.WorkerToken()
		}
	}
	q.awaitVotes(2)
	follower := q.follower()
	certified := certificate(t, filepath.Dir(q.authority), "worker")
	for name, c := range map[string]struct {
		shows  []tls.Certificate
		forged string
		code   connect.Code // 0: let in
	}{
		"a worker":                        {[]tls.Certificate{certified}, "", 0},
		"nothing":                         {nil, "", connect.CodePermissionDenied},
		"nothing, and says it is another": {nil, "worker", connect.CodePermissionDenied},
	} {
		client := gramv1connect.NewWorkerServiceClient(clientShowing(t, follower, c.shows...),
			"https://"+follower.Addr(), as(worker))
		req := connect.NewRequest(&pb.RegisterRequest{WorkerId: "w", Slots: 1})
		if c.forged != "" {
			req.Header().Set(gate.RoleHeader, c.forged)
		}
		_, err := client.Register(t.Context(), req)
		if c.code == 0 && err != nil || c.code != 0 && connect.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}

	// An id is bound to the certificate, which the follower has seen.
	for name, shown := range map[string]struct {
		certificate tls.Certificate
		forged      string
		code        connect.Code
	}{
		"its own certificate": {certified, "", 0},
		"another worker's": {certificate(t, filepath.Dir(q.authority), "worker"), "",
			connect.CodePermissionDenied},
		"another's, and a forged digest too": {certificate(t, filepath.Dir(q.authority), "worker"),
			keyDigestOf(t, certified), connect.CodePermissionDenied},
	} {
		client := gramv1connect.NewWorkerServiceClient(clientShowing(t, follower, shown.certificate),
			"https://"+follower.Addr(), as(worker))
		req := connect.NewRequest(&pb.HeartbeatRequest{WorkerId: "w"})
		req.Header().Set(gate.KeyHeader, shown.forged)
		if _, err := client.Heartbeat(t.Context(), req); shown.code == 0 && err != nil || shown.code != 0 &&
			connect.CodeOf(err) != shown.code {
			t.Errorf("heartbeat with %s: %v", name, err)
		}
	}

	aWatchEndsWithItsToken(t, q)
}

// aWatchEndsWithItsToken revokes the token by which a follower is read.
func aWatchEndsWithItsToken(t *testing.T, q *quorum) {
	t.Helper()
	leader, follower := q.leader(), q.follower()
	submitTest(t, leader, "a")
	token := makeToken(t, leader, gate.ScopeRead, 0)
	jobs := gramv1connect.NewJobServiceClient(clientShowing(t, follower), "https://"+follower.Addr(), as(token))
	get := func() error {
		_, err := jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "a"}))
		return err
	}
	q.poll("the follower to know the token", func() bool { return get() == nil })
	watch, err := jobs.Watch(t.Context(), connect.NewRequest(&pb.WatchRequest{Id: "a"}))
	if err != nil || !watch.Receive() {
		t.Fatalf("watch by a follower: %v, %v", err, watch.Err())
	}
	defer watch.Close()
	revokeToken(t, leader, token.ID)
	// at once, though the follower may not know yet
	if err := get(); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("after it was revoked: %v", err)
	}
	for watch.Receive() { // what was on its way
	}
	if watch.Err() == nil {
		t.Error("the watch ended as if the job had")
	}
}

// keyDigestOf is what a member's gate makes of a certificate.
func keyDigestOf(t *testing.T, shown tls.Certificate) string {
	t.Helper()
	leaf, err := x509.ParseCertificate(shown.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}
