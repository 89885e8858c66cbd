package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testConfig(dataDir string) Config {
	began := time.Now() // in a bubble, that of the bubble
	return Config{
		bootClock: func() time.Duration { return time.Since(began) },
		DataDir:   dataDir, raftTimeout: node.MemoryTimeout, StoreURI: "mem://m", Store: mem.New("m"),
		Validate: func(spec protocol.JobSpec) (protocol.JobSpec, error) { return spec, nil },
	}
}

// startTest starts a coordinator that ends with the test.
func startTest(t *testing.T, cfg Config) *Coordinator {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopTest(t, c) })
	return c
}

// stopTest shuts down; a second time does nothing.
func stopTest(t *testing.T, c *Coordinator) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := c.Shutdown(ctx); err != nil {
		t.Errorf("shut down: %v", err)
	}
}

// serveTest serves the API over plain HTTP on loopback.
func serveTest(t *testing.T, c *Coordinator) (url string, client *http.Client) {
	t.Helper()
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	return server.URL, server.Client()
}

// as puts a token on every call.
func as(token gate.Token) connect.ClientOption {
	return connect.WithInterceptors(bearer(token.Reveal()))
}

type bearer string

func (b bearer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		req.Header().Set("Authorization", "Bearer "+string(b))
		return next(ctx, req)
	}
}

func (b bearer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", "Bearer "+string(b))
		return conn
	}
}

func (b bearer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

func testSpec(name string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"NaiveBayes","metadata":{"name":%q},"spec":{
		"input":{"uri":"mem://m/in/x.tsv","format":"tsv","label":1,"text":2},"output":{},"repro":{"seed":7},"run":{}}}`,
		name)
}

func submitTest(t *testing.T, c *Coordinator, id string) *pb.Job {
	t.Helper()
	res, err := c.services.Jobs.Submit(t.Context(),
		connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(id)}))
	if err != nil {
		t.Fatalf("submit %s: %v", id, err)
	}
	return res.Msg.GetJob()
}

// await waits until the state satisfies done.
func await(t *testing.T, c *Coordinator, what string, done func(state.State) bool) state.State {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		view, changed := c.fsm.View()
		if done(view) {
			return view
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// pretend puts another state in the place of a member's, behind raft's back.
func pretend(t *testing.T, c *Coordinator, view state.State) {
	t.Helper()
	var text bytes.Buffer
	if err := errors.Join(view.Encode(&text), c.fsm.Restore(io.NopCloser(&text))); err != nil {
		t.Fatal(err)
	}
}

func inStage(id string, stage pb.JobState) func(state.State) bool {
	return func(s state.State) bool {
		job, ok := s.Job(id)
		return ok && job.Stage == stage
	}
}

// planTest submits a job and completes its plan, over one tree of leaves.
func planTest(t *testing.T, c *Coordinator, id string, leaves uint32) {
	t.Helper()
	submitTest(t, c, id)
	await(t, c, id+" is planning", inStage(id, pb.JobState_JOB_STATE_PLANNING))
	planned(t, c, id, leaves)
}

// planned commits the plan of a job that waits for it.
func planned(t *testing.T, c *Coordinator, id string, leaves uint32) {
	t.Helper()
	verdict, err := onlyVerdict(c.leads.Log().Complete(t.Context(),
		&pb.Completion{Id: &pb.TaskID{JobId: id, Kind: pb.TaskKind_TASK_KIND_PLAN}, Output: planOutput(leaves)}))
	if err != nil || verdict != pb.Verdict_VERDICT_ACCEPTED {
		t.Fatalf("plan of %s: %v %v", id, verdict, err)
	}
}

// onlyVerdict is what Complete answered for a single completion.
func onlyVerdict(verdicts []pb.Verdict, err error) (pb.Verdict, error) {
	if len(verdicts) != 1 {
		return 0, err
	}
	return verdicts[0], err
}

func planOutput(leaves ...uint32) *pb.TaskOutput {
	return &pb.TaskOutput{Manifest: object(1), Plan: object(2),
		Next: &pb.Next{Phase: "count", Trees: leaves, State: object(3)}}
}

func object(n byte) *pb.ObjectRef { return &pb.ObjectRef{Sha256: append(make([]byte, 31), n), Size: 1} }

func leafDone(job string, leaf uint32) *pb.Completion {
	return &pb.Completion{
		Id:     &pb.TaskID{JobId: job, Round: 1, Kind: pb.TaskKind_TASK_KIND_NODE, Index: leaf},
		Output: &pb.TaskOutput{Object: object(byte(leaf) | 1)},
	}
}

// disk is a log store whose writes can be made to fail or to hang.
type disk struct {
	node.DurableStore
	mu      sync.Mutex
	err     error
	hang    chan struct{} // writes wait until it is closed
	longest int           // entry written
}

func (d *disk) StoreLog(log *raft.Log) error { return d.StoreLogs([]*raft.Log{log}) }

func (d *disk) StoreLogs(logs []*raft.Log) error {
	d.mu.Lock()
	for _, log := range logs {
		d.longest = max(d.longest, len(log.Data))
	}
	err, hang := d.err, d.hang
	d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err != nil {
		return err
	}
	return d.DurableStore.StoreLogs(logs)
}

// under puts the disk under a coordinator's log.
func (d *disk) under(cfg Config) Config {
	cfg.wrapLog = func(store node.DurableStore) node.DurableStore {
		d.DurableStore = store
		return d
	}
	return cfg
}

// stall makes writes hang until the returned function is called.
func (d *disk) stall() (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	hang := make(chan struct{})
	d.hang = hang
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hang = nil
		close(hang)
	})
}

func (d *disk) breakWith(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}
