package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

const (
	schedulesOfPage = 100
	nextTicks       = 5
)

// scheduleList is the view of a page of schedules.
type scheduleList struct {
	Schedules []scheduleView
	More      string // the query of the next page; "" on the last one
	First     bool
}

// scheduleView is a schedule as its page shows it.
type scheduleView struct {
	*pb.Schedule
	Recent []tickView // newest first
	Ask    string     // what is asked: pause or resume
	Key    string     // of its form
}

// schedulePages are those of schedules.
type schedulePages struct{ *Site }

// listSchedules is the page of the schedules, in order of id.
func (s schedulePages) listSchedules(w http.ResponseWriter, r *http.Request) {
	from := r.FormValue("from")
	answer, err := s.schedules.ListSchedules(s.as(r), call(r, &pb.ListSchedulesRequest{Limit: schedulesOfPage,
		After: from}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view := scheduleList{First: from == ""}
	for _, found := range answer.Msg.GetSchedules() {
		view.Schedules = append(view.Schedules, scheduleView{Schedule: found})
	}
	if n := len(view.Schedules); n > 0 && answer.Msg.GetMore() {
		view.More = "?" + url.Values{"from": {view.Schedules[n-1].GetDefinition().GetId()}}.Encode()
	}
	s.view(w, r, "schedules", "schedules", "Schedules", view)
}

// schedule is the page of a schedule.
func (s schedulePages) schedule(w http.ResponseWriter, r *http.Request) {
	if view, ok := s.askedSchedule(w, r); ok {
		s.view(w, r, "schedule", "schedules", view.GetDefinition().GetId(), view)
	}
}

// askedSchedule is the schedule that a page is about; false if the page has told why there is none to show.
func (s schedulePages) askedSchedule(w http.ResponseWriter, r *http.Request) (view scheduleView, ok bool) {
	answer, err := s.schedules.GetSchedule(s.as(r), call(r, &pb.GetScheduleRequest{Id: r.PathValue("id"),
		Next: nextTicks}))
	if err != nil {
		s.fail(w, r, err)
		return view, false
	}
	view.Schedule = answer.Msg.GetSchedule()
	for _, tick := range slices.Backward(view.GetRecent()) {
		view.Recent = append(view.Recent, tickView{tick})
	}
	return view, true
}

// askSchedule asks whether a schedule is to be paused, or to go on.
func (s schedulePages) askSchedule(what string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		view, ok := s.askedSchedule(w, r)
		if !ok {
			return
		}
		id := view.GetDefinition().GetId()
		view.Ask, view.Key = what, formKey(r, "/schedules/"+id+"/"+what)
		title := map[string]string{"pause": "Pause ", "resume": "Resume "}[what]
		s.view(w, r, "schedule-ask", "schedules", title+id, view)
	}
}

// decideSchedule pauses a schedule, or lets it go on.
func (s schedulePages) decideSchedule(what string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !checkForm(r) {
			s.refuseForm(w, r)
			return
		}
		id, err := r.PathValue("id"), error(nil)
		if what == "pause" {
			_, err = s.schedules.PauseSchedule(s.as(r), call(r, &pb.PauseScheduleRequest{Id: id}))
		} else {
			_, err = s.schedules.ResumeSchedule(s.as(r), call(r, &pb.ResumeScheduleRequest{Id: id}))
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		http.Redirect(w, r, "/schedules/"+url.PathEscape(id), http.StatusSeeOther)
	}
}

// Word is the state of a schedule, in a word.
func (v scheduleView) Word() string {
	switch {
	case v.GetProblem() != "":
		return "broken"
	case v.GetHeldUnixMs() != 0:
		return "held"
	case v.GetPaused():
		return "paused"
	}
	return "active"
}

// Next is the next tick; 0 if none will fire as it is.
func (v scheduleView) Next() int64 {
	if at := v.GetNextTicksUnixMs(); len(at) > 0 && v.Word() == "active" {
		return at[0]
	}
	return 0
}

// Overlap and CatchUp are its policies, as spec files spell them.
func (v scheduleView) Overlap() string {
	return enumWord(v.GetDefinition().GetOverlap().String(), "SCHEDULE_OVERLAP_")
}

// CatchUp says what becomes of ticks that passed while nobody could fire them.
func (v scheduleView) CatchUp() string {
	return enumWord(v.GetDefinition().GetCatchUp().String(), "CATCH_UP_")
}

func enumWord(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }

// At writes an instant in UTC and, if that is another, in the schedule's time zone.
func (v scheduleView) At(unixMilli int64) string {
	return inZone(unixMilli, v.GetDefinition().GetTimeZone())
}

func inZone(unixMilli int64, zone string) string {
	at := time.UnixMilli(unixMilli)
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "" || zone == "UTC" || zone == "Local" {
		return moment(unixMilli)
	}
	return at.In(place).Format("2006-01-02 15:04:05 MST") + " (" + at.UTC().Format("15:04") + " UTC)"
}

// tickView is what became of a tick.
type tickView struct{ *pb.TickRecord }

// skips says why ticks were skipped.
var skips = map[pb.SkipReason]string{
	pb.SkipReason_SKIP_REASON_PAUSED:   "paused: it passed while the schedule was paused, or before the last change",
	pb.SkipReason_SKIP_REASON_MISSED:   "missed: nobody could fire it when it passed, and the catch-up policy lets it go",
	pb.SkipReason_SKIP_REASON_LATE:     "late: beyond the start deadline",
	pb.SkipReason_SKIP_REASON_OVERLAP:  "overlap: the job of an earlier tick had not ended",
	pb.SkipReason_SKIP_REASON_BACKLOG:  "backlog: too many jobs of earlier ticks wait",
	pb.SkipReason_SKIP_REASON_CONFLICT: "conflict: the job's id was in use with another spec",
	pb.SkipReason_SKIP_REASON_INVALID:  "invalid: no valid job could be made for it",
}

// Skipped says why it was skipped; "" if it fired.
func (t tickView) Skipped() string {
	if t.GetSkip() == pb.SkipReason_SKIP_REASON_UNSPECIFIED {
		return ""
	}
	if text, ok := skips[t.GetSkip()]; ok {
		return text
	}
	return enumWord(t.GetSkip().String(), "SKIP_REASON_") // of a newer release
}
