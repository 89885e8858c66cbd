//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
)

// asGram makes this test binary the gram binary: dev starts workers of its own program.
const asGram = "GRAM_TEST_AS_GRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asGram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// laptop is a home directory with a spec and its data, and `gram dev` running in it.
type laptop struct {
	t      *testing.T
	home   string
	config string // the client's, as dev tells it
	dev    *exec.Cmd
	stderr *stderr
	silent chan struct{} // closed when dev and all it started have closed stderr
}

func newLaptop(t *testing.T) *laptop {
	l := &laptop{t: t, home: t.TempDir()}
	var texts strings.Builder
	for i := range 200 {
		fmt.Fprintf(&texts, "even\tzero two four %d\nodd\tone three five %d\n", 2*i, 2*i+1)
	}
	spec := `{apiVersion: v1, kind: NaiveBayes, metadata: {name: parity}, spec: {repro: {seed: 1},
  input: {uri: texts.tsv, format: tsv, label: 1, text: 2, shard_bytes: 1KiB, split: {test: 0.25}}}}`
	for name, text := range map[string]string{"texts.tsv": texts.String(), "spec.yaml": spec} {
		if err := os.WriteFile(filepath.Join(l.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *laptop) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(l.t.Context(), os.Args[0], args...)
	cmd.Dir = l.home
	cmd.Env = []string{asGram + "=1", "HOME=" + l.home, "PATH=" + os.Getenv("PATH"), "GRAM_CONFIG=" + l.config}
	return cmd
}

// gram runs a verb to its end and returns its stdout.
func (l *laptop) gram(args ...string) string {
	l.t.Helper()
	cmd := l.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("gram %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// start runs `gram dev` until it tells how to reach it.
func (l *laptop) start() {
	l.t.Helper()
	l.config = ""
	l.dev = l.command("dev", "--data", "cluster", "--listen", "127.0.0.1:0", "--workers", "1", "--lease-ttl", "1s")
	stdout, err := l.dev.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		l.t.Fatal(err)
	}
	l.dev.Stderr = says
	if err := l.dev.Start(); err != nil {
		l.t.Fatal(err)
	}
	says.Close()
	stderr, silent := &stderr{changed: make(chan struct{})}, make(chan struct{})
	l.stderr, l.silent = stderr, silent
	go func() {
		defer close(silent)
		_, _ = io.Copy(stderr, said) // ends with the last of the processes
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	config, ok := strings.CutPrefix(strings.TrimSpace(line), "export GRAM_CONFIG=")
	if !ok {
		l.t.Fatalf("dev printed %q, %v\n%s", line, err, l.stderr)
	}
	l.config = config
}

// worker is the process that last became worker-1.
func (l *laptop) worker() int {
	l.t.Helper()
	l.stderr.await(l.t, "worker-1 is process")
	all := regexp.MustCompile(`worker-1 is process (\d+)`).FindAllStringSubmatch(l.stderr.String(), -1)
	pid, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		l.t.Fatal(err)
	}
	return pid
}

func modelIn(t *testing.T, job string) string {
	t.Helper()
	var view show.Job
	if err := json.Unmarshal([]byte(job), &view); err != nil {
		t.Fatalf("%v in %s", err, job)
	}
	for _, o := range view.Outputs {
		if o.Name == "model.safetensors" {
			return o.SHA256
		}
	}
	t.Fatalf("no model in %s", job)
	return ""
}

// What a person does with a laptop cluster, with a killed worker, a killed cluster and a restart in it.
func TestDevClusterOfProcesses(t *testing.T) {
	t.Parallel() // mostly waits for elections
	l := newLaptop(t)
	l.start()
	first := l.worker()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	l.stderr.await(t, "worker-1 ended (signal: killed); starting it again")
	id := strings.TrimSpace(l.gram("submit", "-f", "spec.yaml"))
	l.gram("wait", "--timeout", "1m", id)
	model := modelIn(t, l.gram("status", id, "-o", "json"))
	if here := modelIn(t, l.gram("run", "-f", "spec.yaml", "-o", "json", "--kernels", "generic")); here != model {
		t.Errorf("one process made %s, the cluster %s", here, model)
	}
	if got := l.gram("model", "classify", "--model", id, "two four", "one five"); !strings.HasPrefix(got, "even ") ||
		!strings.Contains(got, "\nodd ") {
		t.Errorf("classified %q", got)
	}

	if got := l.gram("model", "list", "-o", "json"); !strings.Contains(got, id) || !strings.Contains(got, model) {
		t.Errorf("models: %s", got)
	}
	if got := l.gram("model", "get", id, "-o", "json"); !strings.Contains(got, "provenance.json") ||
		!strings.Contains(got, model) {
		t.Errorf("fetched: %s", got)
	}

	l.wantSigned(id)
	if err := l.dev.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = l.dev.Wait() // says that it was killed
	<-l.silent       // its worker noticed, drained and ended

	l.start()
	if got := l.gram("list"); !strings.Contains(got, id+"  Succeeded") {
		t.Errorf("after the restart: %s", got)
	}
	l.worker()
	if err := l.dev.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := l.dev.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, l.stderr)
	}
	<-l.silent
	if !strings.Contains(l.stderr.String(), "gram: stopped") {
		t.Errorf("stderr:\n%s", l.stderr)
	}
}

// wantSigned has the cluster sign a job, and checks what is fetched with its key, as told and as kept in a file.
func (l *laptop) wantSigned(id string) {
	l.t.Helper()
	l.gram("sign", id)
	key := l.gram("cluster", "public-key")
	if err := os.WriteFile(filepath.Join(l.home, "cluster.pub"), []byte(key), 0o600); err != nil {
		l.t.Fatal(err)
	}
	for _, args := range [][]string{{"--out", "told"}, {"--out", "kept", "--public-key", "cluster.pub"}} {
		got := l.gram(append([]string{"model", "get", id, "-o", "json"}, args...)...)
		if strings.Count(got, `"verdict": "valid"`) != 2 {
			l.t.Errorf("%v: %s", args, got)
		}
	}
	if got := l.gram("verify", id); strings.Count(got, ": valid, by the key") != 2 {
		l.t.Errorf("verified: %s", got)
	}
}

// SIGTERM while a run waits for a store that does not answer: nothing stays behind.
func TestARunThatIsTerminatedLeavesNoScratch(t *testing.T) {
	t.Parallel() // mostly waits for an election
	l := newLaptop(t)
	asked := make(chan struct{}, 1)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	}))
	defer silent.Close()
	scratch := t.TempDir()
	run := l.command("run", "-f", "spec.yaml", "--set", "spec.input.uri=s3://bucket/texts.tsv")
	run.Env = append(run.Env, "TMPDIR="+scratch, "AWS_ENDPOINT_URL="+silent.URL, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	var said bytes.Buffer
	run.Stderr = &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	select {
	case <-asked:
	case err := <-ended:
		t.Fatalf("the run ended by itself: %v\n%s", err, &said)
	}
	if entries, err := os.ReadDir(scratch); err != nil || len(entries) != 1 {
		t.Errorf("while it runs: %v, %v", entries, err)
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended // the exit code says how
	if code := run.ProcessState.ExitCode(); code != exit.Interrupted {
		t.Errorf("exit code %d\n%s", code, &said)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDevRefusesOtherMachines(t *testing.T) {
	c := newClient(t)
	for _, listen := range []string{"0.0.0.0:0", ":7480", "192.0.2.1:7480", "7480"} {
		c.want(exit.Usage, c.run("dev", "--data", t.TempDir(), "--listen", listen))
	}
}

func TestCoordinatorRefusesATinyLease(t *testing.T) {
	c := newClient(t)
	c.want(exit.Usage, c.run("coordinator", "--data", t.TempDir(), "--lease-ttl", "1ms"))
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"/a/b-c": "/a/b-c", "a b": "'a b'", "it's": `'it'\''s'`, "": "''",
		"$(x)": "'$(x)'"} {
		if got := shellQuote(in); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", in, got, want)
		}
	}
}

// The line that dev prints does nothing where a variable that ranks above it is set: dev says so.
func TestDevUnsetsWhatLeadsElsewhere(t *testing.T) {
	var out, notes bytes.Buffer
	env := map[string]string{"GRAM_ADDR": "production:7480", "GRAM_TOKEN": "secret"}
	a := &app{out: &out, err: &notes, getenv: func(name string) string { return env[name] }}
	announceDev(a, "127.0.0.1:7480", "/data", "/data/client.yaml", "/data")
	if want := "export GRAM_CONFIG=/data/client.yaml\nunset GRAM_ADDR GRAM_TOKEN\n"; out.String() != want {
		t.Errorf("dev prints %q, want %q", out.String(), want)
	}
	if said := notes.String(); strings.Contains(said, "by themselves") ||
		!strings.Contains(said, "GRAM_ADDR and GRAM_TOKEN") {
		t.Errorf("dev notes:\n%s", said)
	}
}
