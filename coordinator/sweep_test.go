package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// run drives a job through rounds of one leaf, and puts what its tasks would. Object n of round r is
// object(n) under the key of that round: 1, 2 and 3 of the plan; 10 a partial, 11 a state, 12 metrics.
type run struct {
	t  *testing.T
	c  *Coordinator
	id string
}

func (r run) put(key string) {
	r.t.Helper()
	if _, err := r.c.cfg.Store.Put(r.t.Context(), key, []byte("x")); err != nil {
		r.t.Fatal(err)
	}
}

func (r run) key(round uint32, n byte) string {
	return protocol.ObjectKey(r.id, round, [32]byte(object(n).GetSha256()))
}

func (r run) plan() run {
	r.t.Helper()
	planTest(r.t, r.c, r.id, 1)
	for n := range byte(3) {
		r.put(r.key(0, n+1))
	}
	r.put(protocol.LogKey(r.id, 1, "w", 1))
	return r
}

func (r run) complete(kind pb.TaskKind, round uint32, out *pb.TaskOutput) {
	r.t.Helper()
	verdict, err := onlyVerdict(r.c.leads.Log().Complete(r.t.Context(),
		&pb.Completion{Id: &pb.TaskID{JobId: r.id, Round: round, Kind: kind}, Output: out}))
	if err != nil || verdict != pb.Verdict_VERDICT_ACCEPTED {
		r.t.Fatalf("%v of round %d of %s: %v %v", kind, round, r.id, verdict, err)
	}
}

// round closes one; besides what is committed, somebody stores a partial that nobody commits.
func (r run) round(n uint32, done bool) {
	r.t.Helper()
	for _, object := range []byte{10, 11, 12, 99} {
		r.put(r.key(n, object))
	}
	r.complete(pb.TaskKind_TASK_KIND_NODE, n, &pb.TaskOutput{Object: object(10)})
	r.complete(pb.TaskKind_TASK_KIND_STEP, n,
		&pb.TaskOutput{Next: &pb.Next{Phase: "count", Trees: []uint32{1}, State: object(11), Metrics: object(12),
			Done: done}})
}

// end makes the job succeed, with its model in the cluster's store.
func (r run) end(rounds uint32) {
	r.t.Helper()
	model := protocol.OutputPrefix(r.id) + protocol.ModelFile
	r.put(model)
	r.put(protocol.OutputPrefix(r.id) + "tiles/0.npy") // of which the log hears nothing
	r.complete(pb.TaskKind_TASK_KIND_REPORT, rounds, &pb.TaskOutput{Files: []*pb.OutputFile{
		{Name: protocol.ModelFile, Uri: r.c.cfg.StoreURI + "/" + model, Sha256: object(11).GetSha256(), Size: 1},
	}})
}

func (r run) finish() {
	r.t.Helper()
	r.plan().round(1, true)
	r.end(1)
}

// stored lists the store, keys of objects as "job/round/n".
func stored(t *testing.T, c *Coordinator) (keys []string) {
	t.Helper()
	for info, err := range c.cfg.Store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		rest, _ := strings.CutPrefix(info.Key, protocol.JobsPrefix)
		id, _, _ := strings.Cut(rest, "/")
		if round, sum, ok := protocol.ParseObjectKey(id, info.Key); ok {
			info.Key = fmt.Sprintf("%s/%d/%d", id, round, sum[31])
		}
		keys = append(keys, info.Key)
	}
	slices.Sort(keys)
	return keys
}

func wantStored(t *testing.T, c *Coordinator, when string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := stored(t, c); !slices.Equal(got, want) {
		t.Errorf("%s there is\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// sleep lets bubble time pass, and what is due in it happen.
func sleep(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func refersTo(t *testing.T, c *Coordinator) {
	t.Helper()
	have := stored(t, c)
	view, _ := c.fsm.View()
	view.EachJob(func(job *state.Job) bool {
		job.EachReference(func(o state.ObjectID) {
			if key := fmt.Sprintf("%s/%d/%d", job.ID, o.Round, o.SHA256[31]); !slices.Contains(have, key) {
				t.Errorf("the log refers to %s, which is not there", key)
			}
		})
		return true
	})
}

func TestRoundsOfARunningJobAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.KeepJobs, cfg.SweepGrace, cfg.SweepEvery = 60*time.Minute, 24*time.Minute, time.Minute
		c := startTest(t, cfg)
		job := run{t, c, "a"}.plan()
		for n := range uint32(3) {
			job.round(n+1, false)
			sleep(time.Minute)
		}
		job.put(job.key(4, 10)) // the open round's, not yet reported
		// The first state and that of round 2 too: the rounds may begin anew, and round 3 be made again.
		kept := []string{"a/0/1", "a/0/2", "a/0/3", "a/1/12", "a/2/11", "a/2/12", "a/3/10", "a/3/11", "a/3/12",
			"a/3/99", "a/4/10", "jobs/a/logs/0000000000001-w-000001.jsonl"}
		sleep(19 * time.Minute) // the first round ended 22 minutes ago
		wantStored(t, c, "before the grace", append(kept, "a/1/10", "a/1/11", "a/1/99", "a/2/10", "a/2/99")...)
		refersTo(t, c)
		sleep(5 * time.Minute)
		wantStored(t, c, "after the grace", kept...)
		refersTo(t, c)
		job.round(4, true)
		job.end(4)
		sleep(26 * time.Minute)
		wantStored(t, c, "a grace after its end", "a/0/1", "a/0/2", "a/1/12", "a/2/12", "a/3/12", "a/4/11", "a/4/12",
			"jobs/a/logs/0000000000001-w-000001.jsonl", "models/a/model.safetensors", "models/a/tiles/0.npy")
		view, _ := c.fsm.View()
		if job, _ := view.Job("a"); !job.Swept {
			t.Error("the job is not marked as swept")
		}
		job.put(job.key(2, 10)) // of a worker that was paused; it goes with the job
		sleep(31 * time.Minute)
		if keys := stored(t, c); !slices.Contains(keys, "a/4/11") {
			t.Errorf("before its time is over there is %v", keys)
		}
		sleep(30 * time.Minute)
		wantStored(t, c, "when its time is over")
		stopTest(t, c)
	})
}

// Of three jobs an alias names one, and a person's file lies in every place that is not the cluster's own.
func TestRetiredJobsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.KeepJobs, cfg.SweepGrace, cfg.SweepEvery = 10*time.Minute, 2*time.Minute, time.Minute
		c := startTest(t, cfg)
		for _, id := range []string{"goes", "named", "by-hand"} {
			run{t, c, id}.finish()
		}
		others := []string{"in/x.tsv", "jobs/unknown/aa/b", "jobs/goes-not/x", "jobs.txt",
			"models/goes-not/model.safetensors", "models/x.tsv"}
		for _, key := range others {
			run{t, c, ""}.put(key)
		}
		models := c.services.Models
		if _, err := models.SetAlias(t.Context(),
			connect.NewRequest(&pb.SetAliasRequest{Name: "prod", Job: "named"})); err != nil {
			t.Fatal(err)
		}
		_, err := models.Retire(t.Context(), connect.NewRequest(&pb.RetireRequest{Id: "named"}))
		wantCode(t, "retire what is named", err, connect.CodeFailedPrecondition)
		if _, err := models.Retire(t.Context(), connect.NewRequest(&pb.RetireRequest{Id: "by-hand"})); err != nil {
			t.Fatal(err)
		}
		sleep(10*time.Minute + time.Second)
		view, _ := c.fsm.View()
		if _, gone := view.Retired.Get("goes"); view.JobCount() != 1 || !gone {
			t.Errorf("%d jobs after ten minutes", view.JobCount())
		}
		if keys := strings.Join(stored(t, c), " "); strings.Contains(keys, "by-hand") ||
			!strings.Contains(keys, "models/goes/") {
			t.Errorf("after ten minutes there is %s", keys)
		}
		sleep(3 * time.Minute)
		wantStored(t, c, "in the end", append(others, "named/0/1", "named/0/2", "named/1/11", "named/1/12",
			"jobs/named/logs/0000000000001-w-000001.jsonl", "models/named/model.safetensors",
			"models/named/tiles/0.npy")...)
		refersTo(t, c)
		res, err := c.services.Clusters.Status(t.Context(), connect.NewRequest(&pb.StatusRequest{}))
		if err != nil || res.Msg.GetSweeps().GetJobsRetired() != 1 || res.Msg.GetJobsRetired() != 2 ||
			res.Msg.GetSweeps().GetObjects() != 2*10+3 || res.Msg.GetSweeps().GetPasses() < 13 {
			t.Errorf("%v, %v", res.Msg, err)
		}
		stopTest(t, c)
	})
}

// The store refuses some deletes, and a listing breaks off: the next pass goes on, and nothing is marked before.
func TestSweepGoesOnAfterFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.SweepGrace, cfg.SweepEvery = time.Minute, time.Minute
		cfg.Store = faulty.Wrap(mem.New("m"),
			faulty.Rule{Op: faulty.Delete, First: 2, Times: 2, Err: objstore.ErrUnavailable},
			faulty.Rule{Op: faulty.List, First: 3, Times: 1, Cut: 2},
			faulty.Rule{Op: faulty.Delete, First: 6, Times: 1, LostReply: true},
		)
		c := startTest(t, cfg)
		run{t, c, "a"}.finish()
		if _, err := c.services.Models.Retire(t.Context(), connect.NewRequest(&pb.RetireRequest{Id: "a"})); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			sleep(time.Minute)
			view, _ := c.fsm.View()
			if gone, _ := view.Retired.Get("a"); gone.Swept && len(stored(t, c)) > 0 {
				t.Fatalf("marked as swept with %v left", stored(t, c))
			}
		}
		wantStored(t, c, "in the end")
		status, err := c.leads.Status(t.Context(), &pb.StatusRequest{})
		if err != nil {
			t.Fatal(err)
		}
		failures := status.GetSweeps().GetFailures()
		if view, _ := c.fsm.View(); failures < 2 {
			t.Errorf("%d passes failed", failures)
		} else if gone, _ := view.Retired.Get("a"); !gone.Swept {
			t.Error("not marked as swept in the end")
		}
		stopTest(t, c)
	})
}

func TestSweepByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.KeepJobs, cfg.SweepGrace, cfg.SweepEvery = 30*time.Minute, 24*time.Minute, 1000*time.Hour
		c := startTest(t, cfg)
		run{t, c, "a"}.finish()
		run{t, c, "b"}.finish()
		run{t, c, ""}.put("jobs/stranger/aa/b")
		if _, err := c.services.Models.SetAlias(t.Context(),
			connect.NewRequest(&pb.SetAliasRequest{Name: "prod", Job: "b"})); err != nil {
			t.Fatal(err)
		}
		sweep := func(dry bool) *pb.SweepResponse {
			t.Helper()
			res, err := c.services.Upkeep.Sweep(t.Context(), connect.NewRequest(&pb.SweepRequest{DryRun: dry}))
			if err != nil {
				t.Fatal(err)
			}
			return res.Msg
		}
		sleep(30 * time.Minute)
		before := stored(t, c)
		dry := sweep(true)
		if !slices.Equal(stored(t, c), before) {
			t.Error("a dry run deleted something")
		}
		wet := sweep(false)
		for name, res := range map[string]*pb.SweepResponse{"dry": dry, "wet": wet} {
			if !slices.Equal(res.GetRetired(), []string{"a"}) || len(res.GetHeld()) != 1 ||
				res.GetHeld()[0].GetBy() != "alias @prod" ||
				res.GetUnknownObjects() != 1 || !slices.Equal(res.GetUnknownJobs(), []string{"stranger"}) {
				t.Errorf("%s: %v", name, res)
			}
		}
		// The dry run looks at a job that is not retired yet, the wet one leaves it the grace.
		if dry.GetObjects() != 6 || wet.GetObjects() != 3 {
			t.Errorf("%d objects dry, %d wet", dry.GetObjects(), wet.GetObjects())
		}
		sleep(24 * time.Minute)
		run{t, c, ""}.put(protocol.JobPrefix("a") + "logs/late")
		if res := sweep(false); res.GetObjects() != 11 {
			t.Errorf("%v", res)
		}
		run{t, c, ""}.put(protocol.JobPrefix("a") + "logs/later") // by hand it is found, though the job is marked
		if res := sweep(false); res.GetObjects() != 1 {
			t.Errorf("%v", res)
		}
		stopTest(t, c)
	})
}

// A leader that was deposed in the middle of a sweep, or sweeps by an old state, deletes nothing that is
// referred to by now: rounds that went on meanwhile made the very same bytes.
func TestSweepByAnOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig("")
		cfg.SweepEvery, cfg.SweepGrace = 1000*time.Hour, time.Nanosecond
		c := startTest(t, cfg)
		job := run{t, c, "a"}.plan()
		job.round(1, false)
		job.round(2, false)
		sleep(time.Second)
		old, _ := c.fsm.View()
		now := c.clock.Wall().UnixMilli()
		s := lead.NewSweeper(c.leads, now, now)
		job.round(3, false)
		job.round(4, false)
		sleep(time.Second)
		c.leads.Resign()
		if err := s.SweepJobs(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		if s.Res.GetObjects() != 2 { // 10 and 99 of round 1
			t.Errorf("%d objects swept", s.Res.GetObjects())
		}
		refersTo(t, c)
		if err := s.Run(t.Context()); err != nil { // nothing to decide: nothing to fail
			t.Fatal(err)
		}
		s.Ended = []string{"a"}
		if err := s.Mark(t.Context(), 1); !errors.Is(err, outcome.ErrNotLeader) {
			t.Errorf("a former leader marks: %v", err)
		}
		refersTo(t, c)
		stopTest(t, c)
	})
}
