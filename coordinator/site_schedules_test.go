package coordinator

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gram-compute/gram/coordinator/gate"
)

// A schedule fires, is paused by a form of ours alone, skips, and is resumed. In the bubble it is midnight UTC,
// 1 January 2000.
func TestSchedulePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startTest(t, testConfig(""))
		b := &browser{T: t, c: c}
		b.logIn(makeToken(t, c, gate.ScopeSubmit, 0), "")
		b.wantText("/schedules", 200, "There is no schedule")
		d := definition("hourly")
		d.SpecJson = strings.Replace(d.SpecJson, `"hourly"`, `"<script>alert(1)</script>\u202e"`, 1)
		createTest(t, c, d)
		<-time.After(90 * time.Second)
		synctest.Wait()
		b.wantText("/schedules", 200, "hourly", "* * * * *", "Europe/Berlin", "2000-01-01 01:02:00 CET (00:02 UTC)", "active")
		b.wantText("/schedules/hourly", 200, "2000-01-01 01:01:00 CET", `href="/jobs/hourly-`, "&lt;script&gt;",
			"1 fired, 0 skipped", "Pause this schedule")
		b.wantText("/schedules/none", 404)
		b.wantText("/schedules/%ff", 400)

		reader := &browser{T: t, c: c}
		reader.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
		for _, method := range []string{"GET", "POST"} {
			key := b.keyOf("/schedules/hourly/pause")
			res := reader.ask(method, "/schedules/hourly/pause", url.Values{"key": {key}})
			if res.StatusCode != 403 {
				t.Errorf("%s by a reader: %d", method, res.StatusCode)
			}
		}
		resume := b.keyOf("/schedules/hourly/resume")
		for _, key := range []string{"", "00", resume, reader.keyOf("/schedules/hourly/pause")} {
			if res := b.ask("POST", "/schedules/hourly/pause", url.Values{"key": {key}}); res.StatusCode != 403 {
				t.Errorf("a form that is not ours: %d", res.StatusCode)
			}
		}
		decide := func(what string, paused bool) {
			t.Helper()
			path := "/schedules/hourly/" + what
			res := b.ask("POST", path, url.Values{"key": {b.keyOf(path)}})
			view, _ := c.fsm.View()
			sched, _ := view.Schedule("hourly")
			if res.StatusCode != 303 || res.Header.Get("Location") != "/schedules/hourly" || sched.Paused != paused {
				t.Errorf("%s: %d to %s, paused %t", what, res.StatusCode, res.Header.Get("Location"), sched.Paused)
			}
		}
		decide("pause", true)
		b.wantText("/schedules/hourly", 200, "paused", "None fires while it is paused", "Resume this schedule")
		b.wantText("/schedules/hourly/pause", 200, "There is nothing to pause")
		<-time.After(2 * time.Minute)
		decide("resume", false)
		<-time.After(90 * time.Second)
		synctest.Wait()
		b.wantText("/schedules/hourly", 200, "paused: it passed while the schedule was paused", "Pause this schedule")
		b.wantText("/schedules/hourly/resume", 200, "There is nothing to resume")
		stopTest(t, c)
	})
}

// More schedules than a page has room for are on the next ones.
func TestSchedulesArePaged(t *testing.T) {
	c := startTest(t, testConfig(""))
	for i := range 101 {
		createTest(t, c, nightly("s-"+string(rune('a'+i/26))+string(rune('a'+i%26))))
	}
	b := &browser{T: t, c: c}
	b.logIn(makeToken(t, c, gate.ScopeRead, 0), "")
	text := b.wantText("/schedules", 200, "s-aa", "/schedules?from=s-dv")
	if strings.Contains(text, "s-dw") {
		t.Error("more than a page")
	}
	b.wantText("/schedules?from=s-dv", 200, "s-dw", `href="/schedules"`)
}
