package clustertest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	wrongSecret = "canary-of-a-wrong-secret-5d1f"
	storesFile  = `stores: {canary: {endpoint: %q, access_key_env: CANARY_KEY, secret_key_env: CANARY_SECRET, read: [%s], write: [work/, out/]}}`
)

// nest is a cluster over S3 whose secrets are known, and all that it was heard to say.
type nest struct {
	*testing.T
	cluster *clustertest.Cluster
	server  *s3server.Server
	objects objstore.Store
	heard   map[string][]byte // artefacts by name
}

func newNest(t *testing.T) *nest {
	server := s3server.Start(t, s3server.Options{})
	n := &nest{T: t, server: server, objects: server.Open(t, "canary"), heard: map[string][]byte{}}
	tinyCorpus(t, n.objects)
	if _, err := n.objects.Put(t.Context(), "private/corpus.tsv", []byte("ham\tx\n")); err != nil {
		t.Fatal(err)
	}
	n.cluster = clustertest.StartClusterWith(t, "s3://canary/work", 2*time.Second,
		[]string{"--stores", n.stores("in/"), "--log-level", "debug", "--require-worker-certificates"},
		"CANARY_KEY="+s3server.AccessKey, "CANARY_SECRET="+s3server.SecretKey)
	n.gram(0, "pki", "issue", "--role", "worker", "--ca", n.data("pki"), "--out", n.home("w1"))
	return n
}

func (n *nest) home(name ...string) string {
	return filepath.Join(append([]string{n.cluster.Home}, name...)...)
}
func (n *nest) data(name ...string) string {
	return n.home(append([]string{"data"}, name...)...)
}

// stores writes a declaration with these prefixes to read.
func (n *nest) stores(read string) string {
	n.Helper()
	file := filepath.Join(n.TempDir(), "stores.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, storesFile, n.server.Endpoint(), read), 0o600); err != nil {
		n.Fatal(err)
	}
	return file
}

// gram runs a verb, wants its exit code, and keeps what it says.
func (n *nest) gram(want int, args ...string) (stdout, stderr string) {
	n.Helper()
	stdout, stderr, code := clustertest.Run(n.Context(), n, n.cluster.Home,
		append(n.cluster.ClientEnv(), n.server.Env()...), nil, args...)
	if code != want {
		n.Errorf("gram %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	n.heard[fmt.Sprintf("gram %s (%d)", strings.Join(args, " "), len(n.heard))] = []byte(stdout + stderr)
	return stdout, stderr
}

// work starts a worker that may read a prefix, with a secret for S3.
func (n *nest) work(read, secret string) *clustertest.Process {
	n.cluster.Env = []string{"CANARY_KEY=" + s3server.AccessKey, "CANARY_SECRET=" + secret}
	return n.cluster.Work(n, "generic", 2, "--stores", n.stores(read), "--log-level", "debug",
		"--cert", n.home("w1", "worker.pem"), "--key", n.home("w1", "worker-key.pem"))
}

func (n *nest) spec(input string) string {
	return strings.NewReplacer("mem://m/in/corpus.tsv", input, `"output":{}`,
		`"output":{"uri":"s3://canary/out"}`).Replace(tinySpec(""))
}

// job submits a spec and wants an end of it.
func (n *nest) job(id, input string, want pb.JobState, says string) {
	n.Helper()
	n.cluster.Submit(n, id, n.spec(input))
	job := n.cluster.Wait(n, id, 3*time.Minute)
	if job.GetState() != want || !strings.Contains(job.GetFailure().String(), says) {
		n.Errorf("%s: %v, %v; want %v, %q", id, job.GetState(), job.GetFailure(), want, says)
	}
	n.gram(0, "logs", id)
	n.gram(0, "status", id, "-o", "json")
	n.gram(0, "explain", id)
}

// refused submits a job whose worker the cluster's own store refuses. The job waits for the store, says so, and is
// cancelled.
func (n *nest) refused(id, input string) {
	n.Helper()
	n.cluster.Submit(n, id, n.spec(input))
	ctx, cancel := context.WithTimeout(n.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, n, "the refusal to be told", func() bool {
		told, _ := n.gram(0, "explain", id)
		return strings.Contains(told, "store refuses")
	})
	n.gram(0, "logs", id)
	n.gram(0, "status", id, "-o", "json")
	n.gram(0, "cancel", id)
}

// A cluster at work, with failures of every kind that a secret could show in: it shows nowhere but where it belongs.
func TestSecretsShowNowhere(t *testing.T) {
	t.Parallel()
	n := newNest(t)
	failed := pb.JobState_JOB_STATE_FAILED
	good := n.work("in/", s3server.SecretKey)
	n.job("good", "s3://canary/in/corpus.tsv", pb.JobState_JOB_STATE_SUCCEEDED, "")
	n.job("nothing-there", "s3://canary/in/none.tsv", failed, "none.tsv")
	n.gram(0, "report", "good")
	for uri, says := range map[string]string{
		"s3://canary/private/corpus.tsv": "only what is below in/",
		"s3://canary/in-private/x":       "only what is below in/",
		"s3://another/x":                 "not declared", "file:///etc/passwd": "no files may be opened",
		"s3://me:canary-in-a-uri-77@canary/in/x": "credentials",
	} {
		file := n.home("refused.json")
		if err := os.WriteFile(file, []byte(n.spec(uri)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, stderr := n.gram(2, "submit", "-f", file); !strings.Contains(stderr, says) {
			t.Errorf("%s is refused with %s, want %q", uri, stderr, says)
		}
	}
	n.stop(good)
	narrow := n.work("elsewhere/", s3server.SecretKey) // the worker looks for itself, whatever the coordinator let in
	n.job("narrow", "s3://canary/in/corpus.tsv", failed, "only what is below elsewhere/")
	n.stop(narrow)
	wrong := n.work("in/", wrongSecret)
	n.refused("wrong-secret", "s3://canary/in/corpus.tsv")
	n.stop(wrong)
	n.refuseWorkers()
	n.tokens()
	n.gram(0, "cluster", "backup", "gram.backup")
	n.metrics()
	if err := n.cluster.Coordinator.Stop(t); err != nil {
		t.Error(err)
	}
	n.heard["the coordinator's output"] = []byte(n.cluster.Coordinator.Output())
	n.gather()
	n.search()
}

func (n *nest) stop(p *clustertest.Process) {
	n.Helper()
	if err := p.Stop(n); err != nil {
		n.Error(err)
	}
	n.heard[fmt.Sprintf("a worker's output (%d)", len(n.heard))] = []byte(p.Output())
}

// refuseWorkers starts workers that must not be taken: without a certificate, with another token.
func (n *nest) refuseWorkers() {
	n.Helper()
	ca := n.data("pki", "ca.pem")
	n.gram(4, "worker", "--cacert", ca, "--token-file", n.data("worker.token"), "--file-root", "/")
	n.gram(4, "worker", "--cacert", ca, "--token-file", n.data("admin.token"), "--cert", n.home("w1", "worker.pem"),
		"--key", n.home("w1", "worker-key.pem"))
}

// tokens makes some, and uses them wrongly.
func (n *nest) tokens() {
	n.Helper()
	n.gram(0, "token", "create", "--scope", "read", "--name", "reader", "--out", n.home("reader.token"))
	n.gram(4, "--token-file", n.home("reader.token"), "cancel", "good")
	list, _ := n.gram(0, "token", "list", "-o", "json")
	id := strings.SplitN(secretIn(n, n.home("reader.token")), "_", 3)[1]
	if !strings.Contains(list, id) {
		n.Errorf("the list lacks %s: %s", id, list)
	}
	n.gram(0, "token", "revoke", id)
	n.gram(4, "--token-file", n.home("reader.token"), "list")
	n.gram(0, "config", "view")
}

func (n *nest) metrics() {
	n.Helper()
	for _, page := range []string{"/metrics", "/readyz", "/nowhere"} {
		req, err := http.NewRequestWithContext(n.Context(), http.MethodGet, "https://"+n.cluster.Addr+page, nil)
		if err != nil {
			n.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secretIn(n, n.data("admin.token")))
		res, err := n.cluster.HTTP().Do(req)
		if err != nil {
			n.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			n.Fatal(err)
		}
		n.heard["GET "+page] = append(text, fmt.Sprint(res.Header)...)
	}
}

// gather adds every file and object that was made, but those that hold secrets on purpose.
func (n *nest) gather() {
	n.Helper()
	err := filepath.WalkDir(n.cluster.Home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "-key.pem") || strings.HasSuffix(path, ".token") ||
			strings.HasSuffix(path, "refused.json") {
			return err
		}
		n.heard[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		n.Fatal(err)
	}
	for info, err := range n.objects.List(n.Context(), "") {
		if err != nil {
			n.Fatal(err)
		}
		data, _, err := objstore.ReadAll(n.Context(), n.objects, info.Key, objstore.GetOptions{}, 64<<20)
		if err != nil {
			n.Fatal(err)
		}
		n.heard["s3://canary/"+info.Key] = append(data, info.Key...)
	}
}

func secretIn(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// secrets are what must not show, by what they are.
func (n *nest) secrets() map[string]string {
	found := map[string]string{"S3 secret": s3server.SecretKey, "wrong S3 secret": wrongSecret,
		"secret in a URI": "canary-in-a-uri-77"}
	for _, file := range []string{n.data("admin.token"), n.data("worker.token"), n.home("reader.token")} {
		found[filepath.Base(file)] = strings.SplitN(secretIn(n, file), "_", 3)[2]
	}
	for _, file := range []string{n.data("pki", "ca-key.pem"), n.data("pki", "coordinator-key.pem"),
		n.home("w1", "worker-key.pem")} {
		block, _ := pem.Decode([]byte(secretIn(n, file)))
		// PKCS #8 of a P-256 key: the secret number is in the middle, and base64 is the same from every third byte on.
		found[filepath.Base(file)] = string(block.Bytes[36:66])
	}
	return found
}

// search looks for every secret as it is, in hex and in base64, in all that was heard.
func (n *nest) search() {
	n.Helper()
	if len(n.heard) < 60 {
		n.Errorf("only %d artefacts", len(n.heard))
	}
	for what, secret := range n.secrets() {
		forms := [][]byte{[]byte(secret), []byte(hex.EncodeToString([]byte(secret))),
			[]byte(base64.RawStdEncoding.EncodeToString([]byte(secret))),
			[]byte(base64.RawURLEncoding.EncodeToString([]byte(secret)))}
		for artefact, text := range n.heard {
			for _, form := range forms {
				if i := bytes.Index(text, form); i >= 0 {
					n.Errorf("%s shows the %s: %q", artefact, what, text[max(0, i-80):i])
				}
			}
		}
	}
	for _, must := range []string{"audit.jsonl", filepath.Join("raft", "log.db"), "gram.backup", "report.html",
		"provenance.json", "GET /metrics"} {
		found := false
		for artefact, text := range n.heard {
			found = found || strings.HasSuffix(artefact, must) && len(text) > 0
		}
		if !found {
			n.Errorf("no %s among what was searched", must)
		}
	}
}
