package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobRow is a job with the word for its state.
type jobRow struct {
	*pb.Job
	State State
}

// jobView is a job as its page shows it.
type jobView struct {
	jobRow
	CanStop bool
}

// job is the page of a job.
func (s *Site) job(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.view(w, r, "job", "jobs", title(job), viewOf(job))
}

// asked is the job that a page is about; false if the page has told why there is none to show.
func (s *Site) asked(w http.ResponseWriter, r *http.Request) (job *pb.Job, ok bool) {
	answer, err := s.jobs.Get(s.as(r), call(r, &pb.GetRequest{Id: r.PathValue("id")}))
	if err != nil {
		s.fail(w, r, err)
		return nil, false
	}
	return answer.Msg.GetJob(), true
}

func viewOf(job *pb.Job) jobView {
	state := stateOf(job)
	return jobView{jobRow: jobRow{job, state}, CanStop: !state.Ended}
}

func title(job *pb.Job) string {
	if job.GetName() != "" {
		return job.GetName()
	}
	return job.GetId()
}

// State is the state of a job, in a word.
type State struct {
	Word  string
	Ended bool
	Share float64 // of the open round's leaves that are done, in percent
}

func stateOf(job *pb.Job) State {
	s := State{Word: strings.ToLower(strings.TrimPrefix(job.GetState().String(), "JOB_STATE_"))}
	switch job.GetState() {
	case pb.JobState_JOB_STATE_SUCCEEDED, pb.JobState_JOB_STATE_FAILED, pb.JobState_JOB_STATE_CANCELLED:
		s.Ended = true
	}
	if p := job.GetProgress(); p.GetLeaves() > 0 {
		s.Share = 100 * float64(p.GetLeavesDone()) / float64(p.GetLeaves())
	}
	return s
}

// Seconds is how long the job took, or has taken.
func (j jobRow) Seconds() float64 {
	end := j.GetFinishedUnixMs()
	if end == 0 {
		end = time.Now().UnixMilli()
	}
	return max(0, float64(end-j.GetSubmittedUnixMs())/1000)
}

// jobLive sends the moving part of a job's page, again after each change, until the job has ended.
func (s *Site) jobLive(w http.ResponseWriter, r *http.Request) {
	stream, err := s.jobs.Watch(s.as(r), call(r, &pb.WatchRequest{Id: r.PathValue("id")}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer stream.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	for stream.Receive() {
		view := viewOf(stream.Msg().GetJob())
		event := "piece"
		if view.State.Ended {
			event = "end"
		}
		if err := s.send(w, event, "job-live", view); err != nil {
			return // who looked has gone
		}
		if err := control.Flush(); err != nil {
			return
		}
	}
	if err := stream.Err(); err != nil && r.Context().Err() == nil {
		_, _ = fmt.Fprintf(w, "event: problem\ndata: %s\n\n", oneLine(message(err))) // who looked may have gone
	}
}

// send sends a piece of a page as an event.
func (s *Site) send(w http.ResponseWriter, event, name string, view any) error {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, view); err != nil {
		s.logger.Error("render a piece of a page", "piece", name, "error", err)
		return err
	}
	_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, oneLine(protocol.VisibleLines(out.String())))
	return err
}

// askCancel asks whether a job is to be cancelled.
func (s *Site) askCancel(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.view(w, r, "cancel", "jobs", "Cancel "+title(job), cancelView{
		viewOf(job), formKey(r, "/jobs/"+job.GetId()+"/cancel")})
}

type cancelView struct {
	jobView
	Key string
}

// cancel cancels a job.
func (s *Site) cancel(w http.ResponseWriter, r *http.Request) {
	if !checkForm(r) {
		s.refuseForm(w, r)
		return
	}
	id := r.PathValue("id")
	if _, err := s.jobs.Cancel(s.as(r), call(r, &pb.CancelRequest{Id: id})); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+url.PathEscape(id), http.StatusSeeOther)
}

// refuseForm answers a form that is not one of ours, or was made for another login.
func (s *Site) refuseForm(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, http.StatusForbidden, "problem", &page{Title: "Not allowed", Out: formKey(r, "/logout"),
		View: "This form was not made for your login. Open the page again and repeat what you did."})
}
