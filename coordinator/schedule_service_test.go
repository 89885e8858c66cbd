package coordinator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/api"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

func wantCode(t *testing.T, what string, err error, want connect.Code) {
	t.Helper()
	if got := connect.CodeOf(outcome.Wire(err)); err == nil || got != want {
		t.Errorf("%s: %v (%s), want %s", what, err, got, want)
	}
}

// nightly is a schedule that does not fire while a test runs.
func nightly(id string) *pb.ScheduleDefinition {
	d := definition(id)
	d.Cron = "15 2 * * *"
	return d
}

func TestCreateIsIdempotentAndReplaces(t *testing.T) {
	c := startTest(t, testConfig(""))
	service := c.services.Schedules
	bare := nightly("n")
	bare.TimeZone, bare.Overlap, bare.CatchUp, bare.CatchUpMax = "", 0, 0, 0
	first := createTest(t, c, bare)
	d := first.GetSchedule().GetDefinition()
	if !first.GetCreated() || d.GetTimeZone() != "UTC" ||
		d.GetOverlap() != pb.ScheduleOverlap_SCHEDULE_OVERLAP_FORBID || d.GetCatchUp() != pb.CatchUp_CATCH_UP_LATEST {
		t.Errorf("defaults: %v", first)
	}
	if len(first.GetSchedule().GetNextTicksUnixMs()) != 1 || !strings.Contains(d.GetSpecJson(), "{{previous_tick}}") {
		t.Errorf("%v", first.GetSchedule())
	}
	if again := createTest(t, c, bare); again.GetCreated() {
		t.Error("the same definition made another schedule")
	}
	if again := createTest(t, c, d); again.GetCreated() {
		t.Error("the definition with its defaults made another schedule")
	}
	bare.Cron = "16 2 * * *"
	_, err := service.CreateSchedule(t.Context(), connect.NewRequest(&pb.CreateScheduleRequest{Definition: bare}))
	wantCode(t, "another definition", err, connect.CodeAlreadyExists)
	res, err := service.CreateSchedule(t.Context(), connect.NewRequest(&pb.CreateScheduleRequest{Definition: bare,
		Replace: true}))
	if err != nil || res.Msg.GetCreated() || res.Msg.GetSchedule().GetDefinition().GetCron() != "16 2 * * *" {
		t.Errorf("replaced: %v %v", res, err)
	}
}

// What a tick would be refused for is refused when the schedule is made.
func TestCreateRefuses(t *testing.T) {
	cfg := testConfig("")
	cfg.Validate = func(spec protocol.JobSpec) (protocol.JobSpec, error) {
		spec = spec.WithDefaults()
		return spec, spec.Validate()
	}
	c := startTest(t, cfg)
	for name, spoil := range map[string]func(*pb.ScheduleDefinition){
		"cron":          func(d *pb.ScheduleDefinition) { d.Cron = "61 * * * *" },
		"no day":        func(d *pb.ScheduleDefinition) { d.Cron = "0 0 30 2 *" },
		"zone":          func(d *pb.ScheduleDefinition) { d.TimeZone = "Europe/Atlantis" },
		"local zone":    func(d *pb.ScheduleDefinition) { d.TimeZone = "Local" },
		"path for zone": func(d *pb.ScheduleDefinition) { d.TimeZone = "../../etc/passwd" },
		"spec":          func(d *pb.ScheduleDefinition) { d.SpecJson = `{"apiVersion":"v2"}` },
		"placeholder": func(d *pb.ScheduleDefinition) {
			d.SpecJson = strings.Replace(d.SpecJson, "previous_tick", "nonsense", 1)
		},
		"needs": func(d *pb.ScheduleDefinition) {
			d.SpecJson = strings.Replace(d.SpecJson, `"run":{}`, `"run":{"needs":["another"]}`, 1)
		},
		"id":       func(d *pb.ScheduleDefinition) { d.Id = "N" },
		"catch-up": func(d *pb.ScheduleDefinition) { d.CatchUpMax = 101 },
		"nothing":  func(d *pb.ScheduleDefinition) { *d = pb.ScheduleDefinition{} },
	} {
		d := nightly("n")
		spoil(d)
		_, err := c.services.Schedules.CreateSchedule(t.Context(),
			connect.NewRequest(&pb.CreateScheduleRequest{Definition: d}))
		wantCode(t, name, err, connect.CodeInvalidArgument)
	}
	createTest(t, c, nightly("n"))
}

func TestSchedulesAreReadPausedAndRemoved(t *testing.T) {
	c := startTest(t, testConfig(""))
	service := c.services.Schedules
	for i := range 5 {
		createTest(t, c, nightly(fmt.Sprint("s", i)))
	}
	var ids []string
	for after := ""; ; {
		res, err := service.ListSchedules(t.Context(), connect.NewRequest(&pb.ListSchedulesRequest{Limit: 2,
			After: after}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range res.Msg.GetSchedules() {
			ids = append(ids, s.GetDefinition().GetId())
			if s.GetDefinition().GetSpecJson() != "" || len(s.GetNextTicksUnixMs()) != 1 {
				t.Errorf("listed %v", s)
			}
		}
		if !res.Msg.GetMore() {
			break
		}
		after = ids[len(ids)-1]
	}
	if got := strings.Join(ids, " "); got != "s0 s1 s2 s3 s4" {
		t.Errorf("listed %s", got)
	}
	if _, err := service.PauseSchedule(t.Context(), connect.NewRequest(
		&pb.PauseScheduleRequest{Id: "s1"})); err != nil {
		t.Fatal(err)
	}
	got, err := service.GetSchedule(t.Context(), connect.NewRequest(&pb.GetScheduleRequest{Id: "s1", Next: 3}))
	if err != nil || !got.Msg.GetSchedule().GetPaused() || len(got.Msg.GetSchedule().GetNextTicksUnixMs()) != 3 {
		t.Errorf("%v %v", got, err)
	}
	if res, err := service.ResumeSchedule(t.Context(), connect.NewRequest(
		&pb.ResumeScheduleRequest{Id: "s1"})); err != nil || res.Msg.GetSchedule().GetPaused() {
		t.Errorf("resumed: %v %v", res, err)
	}
	if _, err := service.RemoveSchedule(t.Context(), connect.NewRequest(
		&pb.RemoveScheduleRequest{Id: "s1"})); err != nil {
		t.Fatal(err)
	}
	_, err = service.GetSchedule(t.Context(), connect.NewRequest(&pb.GetScheduleRequest{Id: "s1"}))
	wantCode(t, "get of a removed one", err, connect.CodeNotFound)
	_, err = service.PauseSchedule(t.Context(), connect.NewRequest(&pb.PauseScheduleRequest{Id: "s1"}))
	wantCode(t, "pause of a removed one", err, connect.CodeNotFound)
	_, err = service.RemoveSchedule(t.Context(), connect.NewRequest(&pb.RemoveScheduleRequest{Id: "s1"}))
	wantCode(t, "removal of a removed one", err, connect.CodeNotFound)
}

// A job made by hand is the tick's when the tick comes: one job in either order.
func TestTriggerAndTheTickMakeOneJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		service := c.services.Schedules
		createTest(t, c, definition("n"))
		first := time.Now().Truncate(time.Minute).Add(time.Minute)
		trigger := func(tick time.Time) (*pb.TriggerScheduleResponse, error) {
			res, err := service.TriggerSchedule(t.Context(),
				connect.NewRequest(&pb.TriggerScheduleRequest{Id: "n", TickUnixMs: tick.UnixMilli()}))
			if err != nil {
				return nil, err
			}
			return res.Msg, nil
		}
		_, err := trigger(first.Add(time.Hour))
		wantCode(t, "a tick of the future", err, connect.CodeInvalidArgument)
		made, err := trigger(first) // less than a minute ahead
		if err != nil || !made.GetCreated() {
			t.Fatal(made, err)
		}
		<-time.After(2*time.Minute + time.Second)
		synctest.Wait()
		view, _ := c.fsm.View()
		sched, _ := view.Schedule("n")
		if view.JobCount() != 2 || sched.Fired != 2 || sched.Recent[0].JobID != made.GetJob().GetId() {
			t.Errorf("%d jobs, %d fired, the first %+v", view.JobCount(), sched.Fired, sched.Recent)
		}
		again, err := trigger(first.Add(time.Minute)) // fired already
		if err != nil || again.GetCreated() || again.GetJob().GetId() != sched.Recent[1].JobID {
			t.Errorf("%v %v", again, err)
		}
		between, err := trigger(first.Add(90 * time.Second))
		if err != nil || !between.GetCreated() || !strings.Contains(between.GetJob().GetSpecJson(),
			first.Add(time.Minute).UTC().Format("20060102T150405Z")) {
			t.Errorf("an instant that is no tick: %v %v", between, err)
		}
		stopTest(t, c)
	})
}

func TestBackfillMakesEachTickOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		service := c.services.Schedules
		createTest(t, c, definition("n"))
		until := time.Now().Truncate(time.Minute)
		req := &pb.BackfillScheduleRequest{Id: "n", FromUnixMs: until.Add(-250 * time.Minute).UnixMilli(),
			ToUnixMs: until.UnixMilli(), DryRun: true}
		all := func() (ticks, created int) {
			for from := req.FromUnixMs; from != 0; {
				part := &pb.BackfillScheduleRequest{Id: "n", FromUnixMs: from, ToUnixMs: req.ToUnixMs,
					DryRun: req.DryRun}
				res, err := service.BackfillSchedule(t.Context(), connect.NewRequest(part))
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range res.Msg.GetTicks() {
					ticks++
					if s.GetCreated() {
						created++
					}
				}
				from = res.Msg.GetNextUnixMs()
			}
			return ticks, created
		}
		jobs := func() int { view, _ := c.fsm.View(); return view.JobCount() }
		if ticks, created := all(); ticks != 250 || created != 250 || jobs() != 0 {
			t.Errorf("a dry run: %d ticks, %d to make, %d jobs", ticks, created, jobs())
		}
		req.DryRun = false
		if ticks, created := all(); ticks != 250 || created != 250 || jobs() != 250 {
			t.Errorf("first: %d ticks, %d created, %d jobs", ticks, created, jobs())
		}
		if ticks, created := all(); ticks != 250 || created != 0 || jobs() != 250 {
			t.Errorf("again: %d ticks, %d created, %d jobs", ticks, created, jobs())
		}
		view, _ := c.fsm.View()
		if sched, _ := view.Schedule("n"); sched.Fired != 0 || view.JobsOf("n") != 0 {
			t.Errorf("backfill decided on ticks, or is under the overlap policy: %+v", sched)
		}
		checkBackfillBounds(t, service, until)
		stopTest(t, c)
	})
}

func checkBackfillBounds(t *testing.T, service *api.Schedules, now time.Time) {
	t.Helper()
	for what, req := range map[string]*pb.BackfillScheduleRequest{
		"the future":   {Id: "n", FromUnixMs: now.UnixMilli(), ToUnixMs: now.Add(time.Hour).UnixMilli()},
		"nothing":      {Id: "n", FromUnixMs: now.UnixMilli(), ToUnixMs: now.UnixMilli()},
		"before clock": {Id: "n", FromUnixMs: -1, ToUnixMs: now.UnixMilli()},
	} {
		_, err := service.BackfillSchedule(t.Context(), connect.NewRequest(req))
		wantCode(t, what, err, connect.CodeInvalidArgument)
	}
	// 250 jobs are there; room for 750 more, and 800 ticks asked for.
	req := &pb.BackfillScheduleRequest{Id: "n", FromUnixMs: now.Add(-1050 * time.Minute).UnixMilli(),
		ToUnixMs: now.Add(-250 * time.Minute).UnixMilli()}
	made := 0
	for {
		res, err := service.BackfillSchedule(t.Context(), connect.NewRequest(req))
		if err != nil {
			wantCode(t, "no room", err, connect.CodeResourceExhausted)
			break
		}
		made += len(res.Msg.GetTicks())
		if req.FromUnixMs = res.Msg.GetNextUnixMs(); req.FromUnixMs == 0 {
			t.Fatal("more jobs than there is room for")
		}
	}
	if want := state.MaxActiveJobs - 250; made != want {
		t.Errorf("%d jobs made until there was no room, want %d", made, want)
	}
}

// An earlier definition's job stays, and is told.
func TestBackfillAfterAChange(t *testing.T) {
	c := startTest(t, testConfig(""))
	service := c.services.Schedules
	createTest(t, c, nightly("n"))
	now := time.Now()
	req := &pb.BackfillScheduleRequest{Id: "n", FromUnixMs: now.Add(-49 * time.Hour).UnixMilli(),
		ToUnixMs: now.UnixMilli()}
	if _, err := service.BackfillSchedule(t.Context(), connect.NewRequest(req)); err != nil {
		t.Fatal(err)
	}
	other := nightly("n")
	other.SpecJson = tickSpec("other")
	if _, err := service.CreateSchedule(t.Context(), connect.NewRequest(&pb.CreateScheduleRequest{Definition: other,
		Replace: true})); err != nil {
		t.Fatal(err)
	}
	res, err := service.BackfillSchedule(t.Context(), connect.NewRequest(req))
	if err != nil || len(res.Msg.GetTicks()) < 2 {
		t.Fatal(res, err)
	}
	for _, tick := range res.Msg.GetTicks() {
		if !tick.GetConflict() || tick.GetCreated() {
			t.Errorf("%v", tick)
		}
	}
}

// The routes are there, behind the gate.
func TestScheduleServiceOverHTTP(t *testing.T) {
	c := startTest(t, testConfig(""))
	url, client := serveTest(t, c)
	people := gramv1connect.NewScheduleServiceClient(client, url, as(c.AdminToken()))
	if _, err := people.CreateSchedule(t.Context(), connect.NewRequest(
		&pb.CreateScheduleRequest{Definition: nightly("n")})); err != nil {
		t.Fatal(err)
	}
	workers := gramv1connect.NewScheduleServiceClient(client, url, as(c.WorkerToken()))
	_, err := workers.GetSchedule(t.Context(), connect.NewRequest(&pb.GetScheduleRequest{Id: "n"}))
	wantCode(t, "a worker's token", err, connect.CodePermissionDenied)
	strangers := gramv1connect.NewScheduleServiceClient(client, url)
	_, err = strangers.ListSchedules(t.Context(), connect.NewRequest(&pb.ListSchedulesRequest{}))
	wantCode(t, "no token", err, connect.CodeUnauthenticated)
}
