package coordinator

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/pki"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func TestRestartKeepsJobsAndTokens(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	first := startTest(t, cfg)
	planTest(t, first, "a", 5)
	if _, err := first.leads.Log().Complete(t.Context(), leafDone("a", 3)); err != nil {
		t.Fatal(err)
	}
	submitTest(t, first, "b")
	before := await(t, first, "b is planning", inStage("b", pb.JobState_JOB_STATE_PLANNING))
	stopTest(t, first)

	second := startTest(t, cfg)
	after, _ := second.fsm.View()
	if before.Digest() != after.Digest() {
		t.Error("the state is another after a restart")
	}
	if first.AdminToken().Reveal() != second.AdminToken().Reveal() ||
		first.WorkerToken().Reveal() != second.WorkerToken().Reveal() {
		t.Error("other tokens after a restart")
	}
	if string(first.CAPEM()) != string(second.CAPEM()) {
		t.Error("another authority after a restart")
	}
	if job := getTest(t, second, "a"); job.GetProgress().GetLeavesDone() != 1 {
		t.Errorf("job a: %v", job)
	}
	if record, ok := second.lookupToken(first.AdminToken().ID); !ok || record.Scope != gate.ScopeAdmin {
		t.Errorf("admin's token: %+v %v", record, ok)
	}
}

// The log before the snapshot is cut off, so that the snapshot is what is read.
func TestRestartFromSnapshotAndTail(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	first := startTest(t, cfg)
	settings := first.member.Raft.ReloadableConfig()
	settings.TrailingLogs = 1
	if err := first.member.Raft.ReloadConfig(settings); err != nil {
		t.Fatal(err)
	}
	planTest(t, first, "a", 5)
	for leaf := range uint32(3) {
		if _, err := first.leads.Log().Complete(t.Context(), leafDone("a", leaf)); err != nil {
			t.Fatal(err)
		}
	}
	snapshotNow(t, first)
	for leaf := range uint32(2) { // the tail
		if _, err := first.leads.Log().Complete(t.Context(), leafDone("a", 3+leaf)); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := first.fsm.View()
	last := first.member.Raft.LastIndex()
	stopTest(t, first)

	second := startTest(t, cfg)
	taken, err := strconv.Atoi(second.member.Raft.Stats()["last_snapshot_index"])
	if err != nil || taken == 0 {
		t.Fatalf("no snapshot was read: %d %v", taken, err)
	}
	after, _ := second.fsm.View()
	if before.Digest() != after.Digest() || after.ClusterID == "" {
		t.Error("the state is another after a restart from a snapshot")
	}
	if got := second.fsm.AppliedIndex(); got < last { // the leader adds entries of its own, such as its new address
		t.Errorf("applied index %d of at least %d", got, last)
	}
}

func TestDataDirectoryIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	startTest(t, testConfig(dir))
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found++
		if secret := strings.HasSuffix(path, ".token") || strings.HasSuffix(path, "-key.pem") || path == dir; secret &&
			info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", entry.Name(), info.Mode())
		}
		return nil
	})
	if err != nil || found < 8 {
		t.Errorf("%d files: %v", found, err)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	occupied := t.TempDir()
	startTest(t, testConfig(occupied))
	for name, c := range map[string]struct {
		cfg  func(dir string) Config
		says string
	}{
		"no store": {func(dir string) Config { return Config{DataDir: dir} }, "needs Store"},
		"a token file cut short": {func(dir string) Config {
			writeTest(t, filepath.Join(dir, AdminTokenFile), "")
			return testConfig(dir)
		}, "remove it to have a new one made"},
		"a data directory that is a file": {func(dir string) Config {
			writeTest(t, filepath.Join(dir, "file"), "")
			return testConfig(filepath.Join(dir, "file"))
		}, "not a directory"},
		"a listener in memory": {func(string) Config {
			cfg := testConfig("")
			cfg.ListenAddr = "127.0.0.1:0"
			return cfg
		}, "data directory"},
		"a log that is no log": {func(dir string) Config {
			if err := os.MkdirAll(filepath.Join(dir, "raft"), 0o700); err != nil {
				t.Fatal(err)
			}
			writeTest(t, filepath.Join(dir, "raft", "log.db"), strings.Repeat("no log ", 1000))
			return testConfig(dir)
		}, "open raft log "},
		"a port that is taken": {func(dir string) Config {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
			cfg := testConfig(dir)
			cfg.ListenAddr = listener.Addr().String()
			return cfg
		}, "address already in use"},
	} {
		t.Run(name, func(t *testing.T) {
			started, err := Start(t.Context(), c.cfg(t.TempDir()))
			if err == nil {
				stopTest(t, started)
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func writeTest(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTwoCoordinatorsOnOneDirectory(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	startTest(t, cfg)
	if c, err := Start(t.Context(), cfg); err == nil ||
		!strings.Contains(err.Error(), "another coordinator runs on "+cfg.DataDir) {
		stopTest(t, c)
		t.Errorf("the second one: %v", err)
	}
}

// First starts at the same time: the tokens on disk are those of the one that runs.
func TestTwoFirstStartsOnOneDirectory(t *testing.T) {
	t.Parallel()
	cfg := testConfig(filepath.Join(t.TempDir(), "data"))
	type result struct {
		c   *Coordinator
		err error
	}
	results := make(chan result)
	for range 2 {
		go func() {
			c, err := Start(t.Context(), cfg)
			results <- result{c, err}
		}()
	}
	var running *Coordinator
	for range 2 {
		switch r := <-results; {
		case r.err == nil:
			running = r.c
			t.Cleanup(func() { stopTest(t, r.c) })
		case !strings.Contains(r.err.Error(), "another coordinator runs on "):
			t.Errorf("the second one: %v", r.err)
		}
	}
	if running == nil {
		t.Fatal("neither runs")
	}
	text, err := os.ReadFile(filepath.Join(cfg.DataDir, AdminTokenFile))
	if err != nil || strings.TrimSpace(string(text)) != running.AdminToken().Reveal() {
		t.Errorf("the file holds another token than the one that is valid: %v", err)
	}
}

// certificate makes a client's certificate of a role with the authority in dataDir.
func certificate(t *testing.T, dataDir, role string) tls.Certificate {
	t.Helper()
	authority, err := tls.LoadX509KeyPair(filepath.Join(dataDir, "pki", "ca.pem"),
		filepath.Join(dataDir, "pki", "ca-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		URIs:        []*url.URL{{Scheme: "gram", Host: "role", Path: "/" + role}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, key.Public(), authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestRaftPortTakesCoordinatorsOnly(t *testing.T) {
	t.Parallel()
	cfg, strange := testConfig(t.TempDir()), t.TempDir()
	c := startTest(t, cfg)
	if _, err := pki.LoadOrCreate(filepath.Join(strange, "pki"), nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	member := certificate(t, cfg.DataDir, "coordinator")
	ours := "gram-raft/" + c.clusterID()
	for name, client := range map[string]struct {
		shows    []tls.Certificate
		version  uint16 // the highest
		protocol string
		allowed  bool
	}{
		"a coordinator":              {[]tls.Certificate{member}, tls.VersionTLS13, ours, true},
		"a coordinator with TLS 1.2": {[]tls.Certificate{member}, tls.VersionTLS12, ours, false},
		"a coordinator of another cluster": {[]tls.Certificate{member}, tls.VersionTLS13, "gram-raft/" + "another",
			false},
		"a worker": {[]tls.Certificate{certificate(t, cfg.DataDir, "worker")}, tls.VersionTLS13, ours, false},
		"a worker that calls": {[]tls.Certificate{certificate(t, cfg.DataDir, "worker")},
			tls.VersionTLS13, "h2", false},
		"no role": {[]tls.Certificate{certificate(t, cfg.DataDir, "")}, tls.VersionTLS13, ours,
			false},
		"a coordinator by another's word": {[]tls.Certificate{certificate(t, strange, "coordinator")}, tls.VersionTLS13,
			ours, false},
		"nobody":            {nil, tls.VersionTLS13, ours, false},
		"nobody that calls": {nil, tls.VersionTLS13, "h2", false},
	} {
		// It is the port that must refuse, so this client trusts whatever it meets.
		config := &tls.Config{Certificates: client.shows, MaxVersion: client.version,
			NextProtos: []string{client.protocol}, InsecureSkipVerify: true}
		err := knock(t, c.RaftAddr(), config)
		if allowed := errors.Is(err, io.EOF); allowed != client.allowed {
			t.Errorf("%s: %v, allowed %v", name, err, client.allowed)
		}
	}
}

// knock sends a request that raft does not know. A peer it has let in it hangs up on
// (EOF); anyone else gets a TLS alert.
func knock(t *testing.T, address string, config *tls.Config) error {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, config)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{0xff}); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// A peer that stays connected keeps no goroutine of a member that has ended.
func TestRaftPortEndsItsConnections(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	c := startTest(t, cfg)
	conn, err := tls.Dial("tcp", c.RaftAddr(), &tls.Config{
		Certificates: []tls.Certificate{certificate(t, cfg.DataDir, "coordinator")}, InsecureSkipVerify: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	silent, err := net.Dial("tcp", c.RaftAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	stopTest(t, c)
	for _, open := range []net.Conn{conn, silent} {
		if err := open.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := open.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection is open after the end: %v", err)
		}
	}
}

// The API's port speaks TLS 1.3 to those who trust the authority.
func TestAPIPort(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t.TempDir())
	cfg.ListenAddr = "127.0.0.1:0"
	c := startTest(t, cfg)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.CAPEM()) {
		t.Fatal("no authority")
	}
	conn, err := tls.Dial("tcp", c.Addr(), &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	if s := conn.ConnectionState(); s.Version != tls.VersionTLS13 || s.NegotiatedProtocol != "h2" {
		t.Errorf("version %x, protocol %q", s.Version, s.NegotiatedProtocol)
	}
	conn.Close()
	if conn, err := tls.Dial("tcp", c.Addr(), &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS12}); err == nil {
		conn.Close()
		t.Error("TLS 1.2 was accepted")
	}
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, testConfig(t.TempDir())); !errors.Is(err, context.Canceled) {
		t.Errorf("started without time: %v", err)
	}
}

// snapshotNow lets a member write its state down. Raft refuses while the last entry is one about members, such as
// the address that a member corrects at its start; then another entry goes before.
func snapshotNow(t *testing.T, c *Coordinator) {
	t.Helper()
	var err error
	for range 10 {
		if err = c.member.Raft.Barrier(patience).Error(); err == nil {
			err = c.member.Raft.Snapshot().Error()
		}
		if err == nil {
			return
		}
	}
	t.Fatal(err)
}
