package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is a coordinator's WorkerService as a worker meets it: a real Connect
// handler, whose answers the test decides.
type office struct {
	leases chan *pb.LeaseResponse
	store  objstore.Store

	mu        sync.Mutex
	fail      map[string]error // by method; errHang never answers
	registers []*pb.RegisterRequest
	beats     []*pb.HeartbeatRequest
	asked     []uint32 // tasks asked for, call by call
	results   []*pb.TaskResult
	lost      []*pb.TaskID
	refuses   func(*pb.TaskResult) bool
	said      chan struct{} // closed and replaced at every call
}

var errHang = errors.New("hang")

const (
	testTTL  = 9 * time.Second
	testBeat = 3 * time.Second
)

func newOffice() *office {
	return &office{leases: make(chan *pb.LeaseResponse), store: &stuckStore{Store: mem.New("m")},
		fail: make(map[string]error), said: make(chan struct{})}
}

// stuckStore is a store that may stop to take anything.
type stuckStore struct {
	objstore.Store
	mu    sync.Mutex
	stuck bool
}

func (s *stuckStore) stick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = true
}

func (s *stuckStore) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	s.mu.Lock()
	stuck := s.stuck
	s.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return objstore.Info{}, ctx.Err()
	}
	return s.Store.Put(ctx, key, data)
}

// call notes a call and answers with the failure that the test wants, if any.
func (o *office) call(ctx context.Context, method string, note func()) error {
	o.mu.Lock()
	err := o.fail[method]
	if err == nil {
		note()
	}
	close(o.said)
	o.said = make(chan struct{})
	o.mu.Unlock()
	if errors.Is(err, errHang) {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (o *office) Register(ctx context.Context,
	req *connect.Request[pb.RegisterRequest]) (*connect.Response[pb.RegisterResponse], error) {
	err := o.call(ctx, "Register", func() {
		o.registers = append(o.registers, req.Msg)
		for _, m := range []string{"Lease", "Heartbeat"} {
			if connect.CodeOf(o.fail[m]) == connect.CodeNotFound {
				delete(o.fail, m) // known again
			}
		}
	})
	return connect.NewResponse(&pb.RegisterResponse{
		LeaseTtlMs: uint32(testTTL.Milliseconds()), HeartbeatMs: uint32(testBeat.Milliseconds()), StoreUri: "mem://m",
	}), err
}

func (o *office) Lease(ctx context.Context, req *connect.Request[pb.LeaseRequest]) (*connect.Response[pb.LeaseResponse],
	error) {
	if err := o.call(ctx, "Lease", func() { o.asked = append(o.asked, req.Msg.GetMaxTasks()) }); err != nil {
		return nil, err
	}
	timer := time.NewTimer(time.Duration(req.Msg.GetWaitMs()) * time.Millisecond)
	defer timer.Stop()
	select {
	case res := <-o.leases:
		return connect.NewResponse(res), nil
	case <-timer.C:
		return connect.NewResponse(&pb.LeaseResponse{}), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o *office) Heartbeat(ctx context.Context,
	req *connect.Request[pb.HeartbeatRequest]) (*connect.Response[pb.HeartbeatResponse], error) {
	res := &pb.HeartbeatResponse{}
	err := o.call(ctx, "Heartbeat", func() {
		o.beats = append(o.beats, req.Msg)
		res.Lost = o.lost
	})
	return connect.NewResponse(res), err
}

func (o *office) Complete(ctx context.Context,
	req *connect.Request[pb.CompleteRequest]) (*connect.Response[pb.CompleteResponse], error) {
	res := &pb.CompleteResponse{}
	refused := false
	err := o.call(ctx, "Complete", func() {
		for _, r := range req.Msg.GetResults() {
			if refused = refused || o.refuses != nil && o.refuses(r); refused {
				return
			}
		}
		o.results = append(o.results, req.Msg.GetResults()...)
		for range req.Msg.GetResults() {
			res.Verdicts = append(res.Verdicts, pb.Verdict_VERDICT_ACCEPTED)
		}
	})
	if refused {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("too much of it"))
	}
	return connect.NewResponse(res), err
}

// breaks makes calls of a method fail; nil mends it.
func (o *office) breaks(err error, methods ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range methods {
		o.fail[m] = err
	}
}

var allMethods = []string{"Register", "Lease", "Heartbeat", "Complete"}

func code(c connect.Code) error { return connect.NewError(c, errors.New("as the test wants")) }

// until waits until seen holds; it is called with o.mu held.
func (o *office) until(t *testing.T, what string, seen func() bool) {
	t.Helper()
	patience := time.After(10 * time.Minute)
	for {
		o.mu.Lock()
		ok, said := seen(), o.said
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-said:
		case <-patience:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// wire carries requests to a handler without a network, so that a test's clock may be a pretended one.
type wire struct{ handler http.Handler }

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return rec.Result(), nil
}

func (o *office) client() gramv1connect.WorkerServiceClient {
	_, handler := gramv1connect.NewWorkerServiceHandler(o)
	return gramv1connect.NewWorkerServiceClient(&http.Client{Transport: wire{handler}}, "http://coordinator")
}

// bench is where the tasks of a test are computed: each is announced, then waits
// for the test's word or its own end.
type bench struct {
	begun chan *work
}

type work struct {
	ctx    context.Context
	finish chan error
}

func (b *bench) Phases() []jobs.Phase { return []jobs.Phase{b} }
func (b *bench) Name() string         { return "count" }

func (b *bench) Map(context.Context, jobs.Arrays, jobs.Leaf, jobs.Arrays, *kernelops.Set) (jobs.Arrays, jobs.Arrays,
	error) {
	return nil, nil, errors.New("not asked for here")
}

func (b *bench) Merge(jobs.Arrays, jobs.Arrays) (jobs.Arrays, error) {
	return nil, errors.New("not asked for here")
}

func (b *bench) Step(ctx context.Context, _ jobs.Arrays, _ jobs.Round) (jobs.Next, error) {
	w := &work{ctx: ctx, finish: make(chan error, 1)}
	b.begun <- w
	select {
	case err := <-w.finish:
		if err != nil && err.Error() == "panic" {
			panic("at the test's word")
		}
		return jobs.Next{Done: true, State: jobs.Arrays{}}, err
	case <-ctx.Done():
		return jobs.Next{}, ctx.Err()
	}
}

const testSpec = `{"apiVersion":"v1","kind":"Bench","metadata":{},"spec":{
	"input":{"uri":"mem://m/in/x.tsv","format":"tsv","label":1,"text":2},"output":{},"repro":{"seed":7},"run":{"max_state_bytes":1000000}}}`

// leaseOf is an answer with a number of tasks, of rounds from first on.
func (o *office) leaseOf(t *testing.T, first, tasks int) *pb.LeaseResponse {
	t.Helper()
	state := jobs.Arrays{}.Encode()
	w := &worker{store: o.store}
	res := &pb.LeaseResponse{Jobs: []*pb.JobBrief{{Id: "a", SpecJson: testSpec}}}
	for i := range tasks {
		ref, err := w.put(t.Context(), made{"a", uint32(first+i) - 1}, state)
		if err != nil {
			t.Fatal(err)
		}
		res.Tasks = append(res.Tasks, &pb.Task{
			Id:    &pb.TaskID{JobId: "a", Round: uint32(first + i), Kind: pb.TaskKind_TASK_KIND_STEP},
			Token: &pb.LeaseToken{Term: 1, Sequence: uint64(first + i)}, Phase: "count", State: ref,
		})
	}
	return res
}

// shift is a worker at work.
type shift struct {
	*testing.T
	*office
	*bench
	end  context.CancelFunc
	done chan error
}

func (o *office) config(b *bench, slots int) Config {
	return Config{
		Client: o.client(), Name: "w", Slots: slots, Ops: kernelops.Generic(), DrainTimeout: 25 * time.Second,
		Kind: func(name string) (jobs.Kind, error) {
			return jobs.Kind{Name: name, New: func(protocol.JobSpec) (jobs.Algorithm, error) { return b, nil }}, nil
		},
		OpenStore: func(context.Context, string) (objstore.Store, error) { return o.store, nil },
	}
}

// withWorker runs a worker on a pretended clock. The test must end its shift.
func withWorker(t *testing.T, slots int, test func(*shift)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o, b := newOffice(), &bench{begun: make(chan *work)}
		ctx, end := context.WithCancel(t.Context())
		s := &shift{T: t, office: o, bench: b, end: end, done: make(chan error, 1)}
		go func() { s.done <- Run(ctx, o.config(b, slots)) }()
		test(s)
	})
}

// begin leases tasks of rounds from first on, one by one, and waits until they are at work.
func (s *shift) begin(first, tasks int) []*work {
	s.Helper()
	begun := make([]*work, tasks)
	for i := range begun {
		s.leases <- s.leaseOf(s.T, first+i, 1)
		begun[i] = <-s.begun
	}
	return begun
}

// close ends the shift and wants Run to return within limit.
func (s *shift) close(limit time.Duration, want error) {
	s.Helper()
	began := time.Now()
	s.end()
	err := <-s.done
	if took := time.Since(began); took > limit {
		s.Errorf("Run returned %v after its end; %v at most", took, limit)
	}
	if !errors.Is(err, want) {
		s.Errorf("Run returned %v, want %v", err, want)
	}
}

// reported returns what was reported of a round.
func (o *office) reported(round int) (*pb.TaskResult, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found *pb.TaskResult
	for _, r := range o.results {
		if r.GetId().GetRound() != uint32(round) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("round %d was reported twice", round)
		}
		found = r
	}
	if found == nil {
		return nil, fmt.Errorf("round %d was not reported", round)
	}
	return found, nil
}

func (s *shift) wantOutput(round int) {
	s.Helper()
	if r, err := s.reported(round); err != nil || r.GetOutput() == nil {
		s.Errorf("round %d: %v %v", round, r, err)
	}
}

func (s *shift) wantFailure(round int, code protocol.Code, class pb.FailureClass) {
	s.Helper()
	r, err := s.reported(round)
	if f := r.GetFailure(); err != nil || f.GetCode() != string(code) || f.GetClass() != class ||
		r.GetToken().GetSequence() != uint64(round) {
		s.Errorf("round %d: %v %v", round, r, err)
	}
}
