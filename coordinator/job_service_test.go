package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
	"google.golang.org/protobuf/proto"
)

func TestSubmitGetAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		s := c.services.Jobs
		submit := func(id, name string) (*pb.SubmitResponse, error) {
			res, err := s.Submit(t.Context(), connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(name)}))
			if err != nil {
				return nil, outcome.Wire(err)
			}
			return res.Msg, nil
		}
		first, err := submit("a", "one")
		if err != nil || !first.GetCreated() || first.GetJob().GetName() != "one" ||
			len(first.GetJob().GetSpecHash()) != 64 {
			t.Fatalf("submitted %v: %v", first, err)
		}
		if again, err := submit("a", "one"); err != nil || again.GetCreated() ||
			again.GetJob().GetSubmittedUnixMs() != first.GetJob().GetSubmittedUnixMs() {
			t.Errorf("submitted again: %v %v", again, err)
		}
		if _, err := submit("a", "two"); connect.CodeOf(err) != connect.CodeAlreadyExists ||
			!strings.Contains(err.Error(), "another spec") {
			t.Errorf("another spec under the same id: %v", err)
		}
		for name, id := range map[string]string{"no id": "", "an id that is a path": "../x",
			"a long id": strings.Repeat("a", 64)} {
			if _, err := submit(id, "one"); connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
		await(t, c, "the job to be admitted", func(view state.State) bool {
			job, ok := view.Job("a")
			return ok && job.Stage == pb.JobState_JOB_STATE_PLANNING
		})
		job := getTest(t, c, "a")
		if job.GetState() != pb.JobState_JOB_STATE_PLANNING ||
			job.GetReason() != "waits for a worker: none is connected" {
			t.Errorf("got %v, reason %q", job.GetState(), job.GetReason())
		}
		for range 2 {
			res, err := s.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"}))
			if err != nil || res.Msg.GetJob().GetState() != pb.JobState_JOB_STATE_CANCELLED {
				t.Errorf("cancelled: %v %v", res, err)
			}
		}
		_, getErr := s.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: "none"}))
		_, cancelErr := s.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "none"}))
		if connect.CodeOf(outcome.Wire(getErr)) != connect.CodeNotFound ||
			connect.CodeOf(outcome.Wire(cancelErr)) != connect.CodeNotFound {
			t.Errorf("no such job: %v, %v", getErr, cancelErr)
		}
		stopTest(t, c)
	})
}

func getTest(t *testing.T, c *Coordinator, id string) *pb.Job {
	t.Helper()
	res, err := c.services.Jobs.Get(t.Context(), connect.NewRequest(&pb.GetRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	return res.Msg.GetJob()
}

func TestSpecsAreCheckedBeforeTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.Validate = func(spec protocol.JobSpec) (protocol.JobSpec, error) {
			if spec.Metadata.Name == "refused" {
				return spec, errors.New("params.alpha must be positive")
			}
			return spec, nil
		}
		c := startTest(t, cfg)
		before := c.member.Raft.LastIndex()
		big := strings.Replace(testSpec("x"), `"run":{}`,
			`"run":{},"params":{"a":"`+strings.Repeat("x", protocol.MaxSpecBytes)+`"}`, 1)
		for name, spec := range map[string]string{"not JSON": "{",
			"an unknown field": `{"apiVersion":"v1","code":"rm"}`, "too big": big,
			"refused by its kind": testSpec("refused")} {
			_, err := c.services.Jobs.Submit(t.Context(),
				connect.NewRequest(&pb.SubmitRequest{Id: "a", SpecJson: spec}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("%s: %v", name, err)
			}
		}
		if after := c.member.Raft.LastIndex(); after != before {
			t.Errorf("%d entries were written for bad specs", after-before)
		}
		stopTest(t, c)
	})
}

func TestListPagesNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		want := []string{"e", "b", "d", "a", "c"}
		for _, id := range slices.Backward(want) {
			submitTest(t, c, id)
		}
		list := func(limit uint32, token string) *pb.ListResponse {
			res, err := c.services.Jobs.List(t.Context(),
				connect.NewRequest(&pb.ListRequest{Limit: limit, PageToken: token}))
			if err != nil {
				t.Fatal(err)
			}
			return res.Msg
		}
		for limit := uint32(0); limit <= 6; limit++ {
			var got []string
			pages, token := 0, ""
			for more := true; more; more = token != "" {
				page := list(limit, token)
				for _, job := range page.GetJobs() {
					got = append(got, job.GetId())
					if job.GetSpecJson() != "" {
						t.Error("a listed job holds its spec")
					}
				}
				if pages, token = pages+1, page.GetNextPageToken(); pages == 1 {
					submitTest(t, c, fmt.Sprint("new", limit)) // must not shift the pages
					want = append([]string{fmt.Sprint("new", limit)}, want...)
				}
			}
			if !slices.Equal(got, want[1:]) {
				t.Errorf("limit %d: %v, want %v", limit, got, want[1:])
			}
			if limit > 0 && pages != (len(got)+int(limit)-1)/int(limit) {
				t.Errorf("limit %d: %d pages for %d jobs", limit, pages, len(got))
			}
		}
		for _, token := range []string{"!", "MA", "MTJ4", "LTE", "eA"} { // 0, 12x, -1, x
			_, err := c.services.Jobs.List(t.Context(), connect.NewRequest(&pb.ListRequest{PageToken: token}))
			if connect.CodeOf(err) != connect.CodeInvalidArgument {
				t.Errorf("page token %q: %v", token, err)
			}
		}
		stopTest(t, c)
	})
}

func TestAdmissionFollowsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.Schedule.LeaseTTL, cfg.Schedule.MaxRunning = time.Second, 1
		c := startTest(t, cfg)
		submitTest(t, c, "b")
		submitTest(t, c, "a")
		await(t, c, "b is planning", inStage("b", pb.JobState_JOB_STATE_PLANNING))
		synctest.Wait()
		if job := getTest(t, c, "a"); job.GetState() != pb.JobState_JOB_STATE_QUEUED ||
			!strings.Contains(job.GetReason(), "waits for its turn") {
			t.Errorf("a: %v, %q", job.GetState(), job.GetReason())
		}
		if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "b"})); err != nil {
			t.Fatal(err)
		}
		await(t, c, "a is planning", inStage("a", pb.JobState_JOB_STATE_PLANNING))
		stopTest(t, c)
	})
}

// watchTest watches a job and hands over what it is sent.
func watchTest(t *testing.T, c *Coordinator, id string) (<-chan *pb.Job, <-chan error) {
	t.Helper()
	url, client := serveTest(t, c)
	stream, err := gramv1connect.NewJobServiceClient(client, url, as(c.AdminToken())).Watch(t.Context(),
		connect.NewRequest(&pb.WatchRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	seen, ended := make(chan *pb.Job, 100), make(chan error, 1)
	go func() {
		defer close(seen)
		for stream.Receive() {
			seen <- stream.Msg().GetJob()
		}
		ended <- errors.Join(stream.Err(), stream.Close())
	}()
	return seen, ended
}

func TestWatch(t *testing.T) {
	c := startTest(t, testConfig(""))
	planTest(t, c, "a", 2)
	seen, ended := watchTest(t, c, "a")
	if job := <-seen; job.GetState() != pb.JobState_JOB_STATE_RUNNING || job.GetProgress().GetLeaves() != 2 {
		t.Errorf("first %v", job)
	}
	if _, err := c.leads.Log().Complete(t.Context(), leafDone("a", 1)); err != nil {
		t.Fatal(err)
	}
	if job := <-seen; job.GetProgress().GetLeavesDone() != 1 {
		t.Errorf("after a commit %v", job)
	}
	if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"})); err != nil {
		t.Fatal(err)
	}
	if job := <-seen; job.GetState() != pb.JobState_JOB_STATE_CANCELLED {
		t.Errorf("last %v", job)
	}
	if job, more := <-seen; more {
		t.Errorf("after the end %v", job)
	}
	if err := <-ended; err != nil {
		t.Errorf("the watch ended with %v", err)
	}
}

func TestWatchEndsWithTheCoordinatorAndRefusesStrangers(t *testing.T) {
	c := startTest(t, testConfig(""))
	_, ended := watchTest(t, c, "none")
	if err := <-ended; connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("no such job: %v", err)
	}
	submitTest(t, c, "a")
	seen, ended := watchTest(t, c, "a")
	<-seen
	stopTest(t, c)
	if err := <-ended; connect.CodeOf(err) != connect.CodeUnavailable {
		t.Errorf("the coordinator went down: %v", err)
	}
	url, client := serveTest(t, c)
	stream, err := gramv1connect.NewJobServiceClient(client, url, as(c.WorkerToken())).Watch(t.Context(),
		connect.NewRequest(&pb.WatchRequest{Id: "a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodePermissionDenied {
		t.Errorf("a worker's token: %v", stream.Err())
	}
}

// Segments may appear out of order: a follower sees each of them, once.
func TestLogsShowLateSegments(t *testing.T) {
	t.Parallel()
	cfg := testConfig("")
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	store := func(at int64, worker, text string) {
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", at, worker, 1), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	url, client := serveTest(t, c)
	jobs := gramv1connect.NewJobServiceClient(client, url, as(c.AdminToken()))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	store(200, "w2", "second\n")
	stream, err := jobs.Logs(ctx, connect.NewRequest(&pb.LogsRequest{Id: "a", Follow: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	receive := func(want ...string) {
		t.Helper()
		if !stream.Receive() || !slices.Equal(stream.Msg().GetLines(), want) {
			t.Fatalf("lines %v, want %v: %v", stream.Msg().GetLines(), want, stream.Err())
		}
	}
	receive("second")
	store(100, "w1", "first, but late\nbad byte \xff\n")
	receive("first, but late", "bad byte \ufffd")
	cursor := stream.Msg().GetCursor()
	store(300, "w1", "third\n")
	if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "a"})); err != nil {
		t.Fatal(err)
	}
	receive("third")
	if stream.Receive() || stream.Err() != nil {
		t.Errorf("after the end: %v %v", stream.Msg(), stream.Err())
	}
	rest, err := jobs.Logs(ctx, connect.NewRequest(&pb.LogsRequest{Id: "a", Cursor: cursor}))
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Close()
	if !rest.Receive() || rest.Msg().GetLines()[0] != "third" || rest.Receive() || rest.Err() != nil {
		t.Errorf("from the cursor: %v %v", rest.Msg(), rest.Err())
	}
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		registerTest(t, c, "w", 3)
		planTest(t, c, "a", 2)
		leaseTest(t, c, "w", 2)
		res, err := c.services.Clusters.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		s := res.Msg
		view, _ := c.fsm.View()
		digest := view.Digest()
		if s.GetClusterId() == "" || s.GetLeader() != "c1" || s.GetTerm() == 0 || s.GetJobsActive() != 1 ||
			s.GetJobsTotal() != 1 ||
			s.GetLeasesGranted() != 2 || string(s.GetStateSha256()) != string(digest[:]) ||
			s.GetAppliedIndex() != c.member.Raft.LastIndex() {
			t.Errorf("status %v", s)
		}
		if w := s.GetWorkers()[0]; w.GetWorkerId() != "w" || w.GetSlots() != 3 || w.GetTasks() != 2 ||
			w.GetLastSeenUnixMs() != time.Now().UnixMilli() {
			t.Errorf("worker %v", w)
		}
		stopTest(t, c)
	})
}

// A job that is known to be larger than every worker is refused with the reason, once there are workers; the same job
// again is no new one.
func TestSubmitOfAJobThatFitsNoWorker(t *testing.T) {
	cfg := testConfig("")
	cfg.LeastState = func(protocol.JobSpec) int64 { return 2 << 30 }
	c := startTest(t, cfg)
	submitTest(t, c, "early")
	register := &pb.RegisterRequest{WorkerId: "w", Slots: 1, MemoryBytes: 1 << 30}
	if _, err := c.services.Workers.Register(t.Context(), connect.NewRequest(register)); err != nil {
		t.Fatal(err)
	}
	submitTest(t, c, "early")
	submit := func() error {
		_, err := c.services.Jobs.Submit(t.Context(),
			connect.NewRequest(&pb.SubmitRequest{Id: "late", SpecJson: testSpec("late")}))
		return err
	}
	var refused *state.Rejection
	if err := submit(); !errors.As(err, &refused) || refused.Reason != state.Exhausted ||
		!strings.Contains(err.Error(), "at least 2048 MiB, and the largest worker plans with 1024") {
		t.Errorf("beyond every worker: %v", err)
	}
	register.WorkerId, register.MemoryBytes = "big", 2<<30
	if _, err := c.services.Workers.Register(t.Context(), connect.NewRequest(register)); err != nil {
		t.Fatal(err)
	}
	if err := submit(); err != nil {
		t.Errorf("with a larger worker: %v", err)
	}
}

// The last lines of a log are no more bytes than a segment, or two, however long a worker's lines are.
func TestLastLinesAreBounded(t *testing.T) {
	t.Parallel()
	cfg := testConfig("")
	c := startTest(t, cfg)
	submitTest(t, c, "a")
	for i := range int64(40) {
		if _, err := cfg.Store.Put(t.Context(), protocol.LogKey("a", 100+i, "w", 1),
			bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	url, client := serveTest(t, c)
	jobs := gramv1connect.NewJobServiceClient(client, url, as(c.AdminToken()))
	stream, err := jobs.Logs(t.Context(), connect.NewRequest(&pb.LogsRequest{Id: "a", Tail: 1000}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() || proto.Size(stream.Msg()) > 2<<20 || !stream.Msg().GetSkipped() {
		t.Errorf("%d bytes, skipped %t: %v", proto.Size(stream.Msg()), stream.Msg().GetSkipped(), stream.Err())
	}
}
