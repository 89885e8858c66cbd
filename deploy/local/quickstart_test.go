package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/deploy/documented"
)

// The quick start of docs/operations.md works as it is written: `make cluster` is what this
// test runs, and the commands after it are run by a shell, to the letter.
func TestQuickStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; make test-all runs it")
	}
	root := filepath.Join("..", "..")
	blocks, err := documented.Blocks(filepath.Join(root, "docs", "operations.md"), "Quick start", "sh")
	if err != nil || len(blocks) < 3 {
		t.Fatalf("%d blocks: %v", len(blocks), err)
	}
	recipe := regexp.MustCompile(
		`(?m)^cluster: build tools .*\n\tgo build -o bin/cluster \./deploy/local\n\tbin/cluster$`)
	if text, err := os.ReadFile(filepath.Join(root, "Makefile")); err != nil || blocks[0] != "make cluster\n" ||
		!recipe.Match(text) {
		t.Fatalf("the quick start begins with %q, which is not what this test runs: %v", blocks[0], err)
	}
	folder := t.TempDir() // stands for the repository
	for _, name := range []string{"examples/glosses.yaml", "testdata/wordnet30-glosses.tsv.gz"} {
		copyFile(t, filepath.Join(root, name), filepath.Join(folder, name))
	}
	o := options{gram: clustertest.Binary(t), versitygw: versitygw(t, root), dir: filepath.Join(folder, "cluster"),
		input: folder}
	o.port = freePorts(t, 1+2*members)
	c := startLocal(t, o)
	said := shell(t, folder, strings.Join(blocks[1:], ""))
	if models := regexp.MustCompile(`(?m)^\w+ +NaiveBayes .* ([0-9a-f]{12})$`).FindAllStringSubmatch(said,
		-1); len(models) != 2 || models[0][1] != models[1][1] {
		t.Errorf("the models, without and with a member killed: %q in\n%s", models, said)
	}
	// What a worker's token alone opens here: nothing.
	said = shell(t, folder,
		". cluster/env\nif gram worker --token-file cluster/c1/worker.token 2>&1; then exit 1; fi\n")
	if !strings.Contains(said, "this cluster takes workers with a worker's certificate only") {
		t.Errorf("a worker without a certificate:\n%s", said)
	}
	c.await(t, "the killed member to be healthy again", func() bool {
		return strings.Count(shell(t, folder, ". cluster/env\ngram cluster members\n"), " healthy ") == members
	})
	pids := processes(t, o.dir)
	if err := c.stop(); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
	for name, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s is still there after the end: %v", name, err)
		}
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s still names a process after the end: %v", name, err)
		}
	}
	again := startLocal(t, o)
	if list := shell(t, folder, ". cluster/env\ngram list\n"); !strings.Contains(list, "Succeeded") {
		t.Errorf("started again over its data, the cluster knows no job that succeeded:\n%s", list)
	}
	if err := again.stop(); err != nil {
		t.Errorf("Ctrl-C of the second start: %v", err)
	}
}

// freePorts returns the first of n ports in a row that nothing listened on a moment ago.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for first := 20000 + os.Getpid()%10000; first < 32000; first += n {
		free := true
		for port := first; port < first+n && free; port++ {
			listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			if free = err == nil; free {
				free = listener.Close() == nil
			}
		}
		if free {
			return first
		}
	}
	t.Fatalf("no %d free ports in a row", n)
	return 0
}

func TestMain(m *testing.M) {
	code := m.Run()
	clustertest.RemoveBinary()
	os.Exit(code)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func versitygw(t *testing.T, root string) string {
	t.Helper()
	binary := filepath.Join(root, "bin", "versitygw")
	if _, err := os.Stat(binary); err != nil {
		if os.Getenv("REQUIRE_VERSITYGW") != "" {
			t.Fatal("REQUIRE_VERSITYGW is set, but bin/versitygw is not there; `make tools` builds it")
		}
		t.Skip("bin/versitygw is not there; `make tools` builds it")
	}
	return binary
}

// shell runs a script that must succeed, and returns what it wrote.
func shell(t *testing.T, folder, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	out, err := documented.Run(ctx, folder, nil, script)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// running is the command under test.
type running struct {
	interrupt context.CancelFunc
	ended     chan struct{}
	err       error
}

// startLocal starts the cluster and returns when it serves.
func startLocal(t *testing.T, o options) *running {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(o.dir, "env")); err != nil { // written last: it tells that the cluster serves
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	c := &running{interrupt: interrupt, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		c.err = run(ctx, o)
	}()
	t.Cleanup(func() { _ = c.stop() }) // the test has looked at how it ended, or failed before
	c.await(t, "the cluster to serve", func() bool {
		_, err := os.Stat(filepath.Join(o.dir, "env"))
		return err == nil
	})
	return c
}

// stop is Ctrl-C; it waits for the end.
func (c *running) stop() error {
	c.interrupt()
	<-c.ended
	return c.err
}

// await asks until the answer is yes; a cluster that has ended meanwhile is a failure.
func (c *running) await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, what, func() bool {
		select {
		case <-c.ended:
			t.Fatalf("the cluster ended: %v", c.err)
		default:
		}
		return yes()
	})
}

// processes are the ids of all that run, by their files.
func processes(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil || len(files) != 1+members+workers {
		t.Fatalf("%d files of process ids: %v", len(files), err)
	}
	ids := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if ids[file], err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}
