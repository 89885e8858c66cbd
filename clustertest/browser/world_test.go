package browser

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/clustertest"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/deploy/cluster"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// world is a cluster of `gram dev` without workers, and a browser that trusts it.
type world struct {
	owner   *testing.T // whose end is that of all processes
	dir     string     // of all its files
	base    string     // of its pages
	link    string     // that logs in once
	browser context.Context
	home    cluster.Home
	client  *http.Client
	admin   connect.ClientOption
	jobs    gramv1connect.JobServiceClient
}

var linkOfDev = regexp.MustCompile(`https://\S+/login/once\?\S+`)

// start starts a world in a directory; all of it ends with the test.
func start(t *testing.T, dir string, flags ...string) *world {
	t.Helper()
	findChromium(t) // before a minute is spent
	w := &world{owner: t, dir: dir, home: cluster.Home(filepath.Join(dir, "cluster"))}
	links, binary := make(chan string, 1), clustertest.Binary(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// Leases last, so that a worker that is paused keeps a job as it is.
	flags = append([]string{"--workers", "0", "--lease-ttl", "10m", "--store", filepath.Join(dir, "store")}, flags...)
	dev, err := cluster.StartDev(ctx, binary, string(w.home), "127.0.0.1:0", func(line string) {
		if link := linkOfDev.FindString(line); link != "" {
			links <- link
		}
	}, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Stop(20 * time.Second); err != nil {
			t.Errorf("gram dev: %v", err)
		}
	})
	w.base = "https://" + dev.Listen
	select {
	case w.link = <-links:
	case <-ctx.Done():
		t.Fatal("gram dev prints no link that logs in")
	}
	if w.client, w.admin, err = w.home.Client(0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.client.CloseIdleConnections)
	w.jobs = gramv1connect.NewJobServiceClient(w.client, w.base, w.admin)
	w.browser = startChromium(t, filepath.Join(w.home.PKI(), "coordinator.pem"))
	return w
}

// token makes a token of a scope.
func (w *world) token(t *testing.T, scope gate.Scope) string {
	t.Helper()
	token := gate.NewToken()
	_, err := gramv1connect.NewTokenServiceClient(w.client, w.base, w.admin).CreateToken(t.Context(),
		connect.NewRequest(&pb.CreateTokenRequest{Id: token.ID, SecretSha256: token.SecretSHA256(),
			Scope: string(scope), Name: "pages"}))
	if err != nil {
		t.Fatal(err)
	}
	return token.Reveal()
}

// work starts a worker.
func (w *world) work(t *testing.T, name string) *clustertest.Process {
	t.Helper()
	own := filepath.Join(string(w.home), "worker")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	clustertest.Poll(ctx, t, "the workers' certificate", func() bool {
		_, err := os.Stat(filepath.Join(own, "worker.pem"))
		return err == nil
	})
	at := []string{w.base[len("https://"):]}
	return clustertest.Start(w.owner, w.dir, nil, w.home.Worker(name, at, "--slots", "1", "--file-root", "/", "--memory", "512MiB", "--cert", filepath.Join(own, "worker.pem"),
		"--key", filepath.Join(own, "worker-key.pem"))...)
}

// fields are those of a JSON object.
type fields = map[string]any

// submit submits a job over a file in testdata, and returns the error of the cluster.
func (w *world) submit(ctx context.Context, id, kind string, metadata, input, params fields) error {
	spec, err := json.Marshal(fields{"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": fields{
		"input": input, "params": params, "repro": fields{"seed": 7}}})
	if err != nil {
		return err
	}
	_, err = w.jobs.Submit(ctx, connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: string(spec)}))
	return err
}

// get reads a job.
func (w *world) get(t *testing.T, id string) *pb.Job {
	t.Helper()
	res, err := w.jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetJob()
}

// await waits until a job is as it should be.
func (w *world) await(t *testing.T, id, what string, yes func(*pb.Job) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clustertest.Poll(ctx, t, what, func() bool { return yes(w.get(t, id)) })
}

func (w *world) awaitEnd(t *testing.T, id string) {
	t.Helper()
	w.await(t, id, id+" to end", func(job *pb.Job) bool { return job.GetFinishedUnixMs() != 0 })
}

// data copies a file of testdata below the world's directory, and returns its URI.
func (w *world) data(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(w.dir, name)
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + to
}

func TestMain(m *testing.M) {
	code := m.Run()
	clustertest.RemoveBinary()
	os.Exit(code)
}
