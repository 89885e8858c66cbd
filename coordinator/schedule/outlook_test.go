package schedule_test

import (
	"testing"
	"time"

	"github.com/gram-compute/gram/report/forecast"
)

// outlook is that of job a, and its quantiles.
func (d *desk) outlook() (forecast.Open, []float64, bool) {
	d.Helper()
	open, known := d.board.Outlook(jobOf(d.view, "a"), d.now)
	if !known {
		return open, nil, false
	}
	return open, open.Ends(), true
}

// Nothing is known before a task has ended; then the times of those that ended are, and what is at work.
func TestOutlookOfARound(t *testing.T) {
	d := newDesk(t, 2, 8)
	if _, _, known := d.outlook(); known {
		t.Error("the end of a round is known, of which no task has ended")
	}
	d.wantNodes("w", 2, node(0, 0), node(0, 1))
	d.now += 400 * ms
	d.commit(node(0, 0))
	open, ends, known := d.outlook()
	if !known || len(open.Ended) != 1 || open.Ended[0] != (forecast.Lease{Leaves: 1, Seconds: 0.4}) || open.Free != 6 ||
		len(open.Running) != 1 || open.Running[0].Seconds != 0.4 || open.Slots != 2 || open.Copies.After != 0 ||
		open.Total != 8 {
		t.Errorf("%+v", open)
	}
	if p50 := forecast.Quantile(ends, 0.5); p50 < 1.2 {
		t.Errorf("p50 %v for seven leaves of 0.4 seconds on two slots", p50)
	}
	d.register("x", 3)
	if open, _, _ := d.outlook(); open.Slots != 5 || open.Copies != (forecast.Copies{After: 1.5, Least: 0.2, From: 0.75,
		Most: 3}) {
		t.Errorf("with a second worker %+v", open)
	}
	d.now += time.Hour // and nobody is heard of
	if _, _, known := d.outlook(); known {
		t.Error("the end of a round is known that nobody works on")
	}
}

// An outlook is asked for by readers, and changes no decision.
func TestOutlookChangesNothing(t *testing.T) {
	d, _ := tail(t)
	e, _ := tail(t)
	for range 3 {
		d.outlook()
	}
	d.now, e.now = d.now+time.Second, e.now+time.Second
	got, want := d.lease("x", 5), e.lease("x", 5)
	if len(got) != len(want) {
		t.Fatalf("granted %d and %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Task != want[i].Task || got[i].Token != want[i].Token {
			t.Errorf("granted %+v and %+v", got[i], want[i])
		}
	}
}

// A round that is not over in a moment is forecast once, when a quarter of its leaves are committed.
func TestARoundIsForetoldOnce(t *testing.T) {
	d, _ := tail(t)
	told := d.board.Jobs.Timeline(jobOf(d.view, "a")).Forecasts
	if len(told) != 1 || told[0].Round != 1 || told[0].At != 400*ms || told[0].P50 < 500*ms ||
		told[0].P90 < told[0].P50 {
		t.Errorf("%+v", told)
	}
	quick := newDesk(t, 2, 8)
	quick.wantNodes("w", 1, node(0, 0))
	quick.commit(node(0, 0))
	quick.wantNodes("w", 1, node(0, 1))
	quick.commit(node(0, 1))
	if told := quick.board.Jobs.Timeline(jobOf(quick.view, "a")).Forecasts; len(told) != 0 {
		t.Errorf("%+v", told)
	}
}
