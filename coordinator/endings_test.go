package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/faulty"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// endingConfig is that of a coordinator whose reports say how a job ended and how many marks its timeline has.
func endingConfig(rules ...faulty.Rule) Config {
	cfg := testConfig("")
	cfg.Store = faulty.Wrap(mem.New("m"), rules...)
	cfg.Ended = func(job *pb.Job, course *pb.Timeline) (page, data []byte, err error) {
		text := fmt.Sprintf("%s %v %d", job.GetId(), job.GetState(), len(course.GetMarks()))
		return []byte("page of " + text), []byte(`"` + text + `"`), nil
	}
	return cfg
}

// failTest plans a job of one leaf, which a worker fails for good.
func failTest(t *testing.T, c *Coordinator, id string) {
	t.Helper()
	registerTest(t, c, "w", 2)
	planTest(t, c, id, 1)
	leaf := leaseTest(t, c, "w", 1).GetTasks()[0]
	wantVerdicts(t, completeTest(t, c, "w", broke(leaf, pb.FailureClass_FAILURE_CLASS_INPUT, "bad line")),
		pb.Verdict_VERDICT_NOTED)
	await(t, c, id+" failed", inStage(id, pb.JobState_JOB_STATE_FAILED))
}

// reports are the names of the reports in the store, and the text of each.
func reports(t *testing.T, c *Coordinator, id string) (names []string, texts map[string]string) {
	t.Helper()
	texts = make(map[string]string)
	for info, err := range c.cfg.Store.List(t.Context(), protocol.EndedPrefix(id)) {
		if err != nil {
			t.Fatal(err)
		}
		data, _, err := objstore.ReadAll(t.Context(), c.cfg.Store, info.Key, objstore.GetOptions{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(strings.TrimPrefix(info.Key, protocol.EndedPrefix(id)), "-")
		names, texts[name] = append(names, name), string(data)
	}
	return names, texts
}

func reportTest(t *testing.T, c *Coordinator, id string) (page, data string) {
	t.Helper()
	res, err := c.services.Jobs.Report(t.Context(), connect.NewRequest(&pb.ReportRequest{Id: id}))
	if err != nil {
		t.Fatal(err)
	}
	return string(res.Msg.GetPage()), string(res.Msg.GetData())
}

// A job that failed has its report in the store some seconds later, with the task that failed on its timeline; the
// services answer with it. One that was cancelled has one, too; one that runs has none.
func TestJobsThatDidNotSucceedHaveReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, endingConfig())
		failTest(t, c, "a")
		submitTest(t, c, "b")
		if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "b"})); err != nil {
			t.Fatal(err)
		}
		submitTest(t, c, "c")
		<-time.After(10 * time.Second)
		for id, want := range map[string]string{"a": "a JOB_STATE_FAILED 1", "b": "b JOB_STATE_CANCELLED 0"} {
			names, texts := reports(t, c, id)
			if !slices.Equal(names, []string{"report.html", "report.json"}) ||
				texts["report.html"] != "page of "+want || texts["report.json"] != `"`+want+`"` {
				t.Errorf("%s: %q %q", id, names, texts)
			}
			if page, data := reportTest(t, c, id); page != "page of "+want || data != `"`+want+`"` {
				t.Errorf("%s answered: %q %q", id, page, data)
			}
		}
		if names, _ := reports(t, c, "c"); len(names) > 0 {
			t.Errorf("a job that waits left %q", names)
		}
		_, err := c.services.Jobs.Report(t.Context(), connect.NewRequest(&pb.ReportRequest{Id: "c"}))
		if connect.CodeOf(outcome.Wire(err)) != connect.CodeFailedPrecondition {
			t.Errorf("the report of a job that waits: %v", err)
		}
		stopTest(t, c)
	})
}

// A store that takes no report for a while holds nothing up, and gets each in the end, with what the leader remembered.
// Meanwhile the report is made for those who ask.
func TestReportsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, endingConfig(
			faulty.Rule{Op: faulty.Put, Key: "jobs/a/ended/*", Times: 3, Err: objstore.ErrUnavailable},
			faulty.Rule{Op: faulty.Put, Key: "jobs/b/ended/*", First: 2, Times: 1, LostReply: true}))
		failTest(t, c, "a")
		failTest(t, c, "b")
		<-time.After(2 * time.Second)
		if names, _ := reports(t, c, "a"); len(names) > 0 {
			t.Errorf("the store took %q", names)
		}
		if page, _ := reportTest(t, c, "a"); page != "page of a JOB_STATE_FAILED 1" {
			t.Errorf("answered meanwhile: %q", page)
		}
		<-time.After(30 * time.Second)
		for _, id := range []string{"a", "b"} {
			if names, texts := reports(t, c, id); len(names) != 2 ||
				texts["report.html"] != "page of "+id+" JOB_STATE_FAILED 1" {
				t.Errorf("%s: %q %q", id, names, texts)
			}
		}
		stopTest(t, c)
	})
}

// What no leader wrote, a sweep writes, once; a sweep that only looks writes nothing.
func TestASweepMakesUpReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		c := startTest(t, endingConfig(
			faulty.Rule{Op: faulty.Put, Key: "jobs/a/ended/*", Before: func(context.Context, faulty.Op, string) error {
				if up.Load() {
					return nil
				}
				return objstore.ErrUnavailable
			}}))
		failTest(t, c, "a")
		<-time.After(2 * time.Second)
		up.Store(true)
		if _, err := c.leads.Sweep(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if names, _ := reports(t, c, "a"); len(names) > 0 {
			t.Errorf("a sweep that only looks left %q", names)
		}
		if _, err := c.leads.Sweep(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if names, _ := reports(t, c, "a"); len(names) != 2 {
			t.Errorf("a sweep left %q", names)
		}
		stopTest(t, c)
	})
}

// A store that takes no reports, as one that is full, is swept all the same: what that frees may be what it lacks.
func TestAStoreThatTakesNoReportsIsSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := endingConfig(faulty.Rule{Op: faulty.Put, Key: "jobs/?/ended/*", Err: objstore.ErrUnavailable})
		cfg.SweepGrace, cfg.SweepEvery = time.Minute, time.Minute
		c := startTest(t, cfg)
		failTest(t, c, "a")
		run{t, c, "b"}.plan().round(1, true)
		if _, err := c.services.Jobs.Cancel(t.Context(), connect.NewRequest(&pb.CancelRequest{Id: "b"})); err != nil {
			t.Fatal(err)
		}
		sleep(10 * time.Minute)
		for _, key := range stored(t, c) {
			if key == "b/1/10" || key == "b/1/99" {
				t.Errorf("%s is left, which nothing refers to", key)
			}
		}
		view, _ := c.fsm.View()
		if job, _ := view.Job("a"); job.Swept {
			t.Error("marked as swept without its report")
		}
		stopTest(t, c)
	})
}
