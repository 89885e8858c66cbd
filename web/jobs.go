package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobsOfPage is how many jobs a page lists.
const jobsOfPage = 100

// jobList is the view of a page of jobs.
type jobList struct {
	Jobs  []jobRow
	Older string // the query of the next page; "" on the last one
	First bool   // the newest are on this page
}

// jobRow is a job in a list.
type jobRow struct {
	*pb.Job
	State State
}

// listJobs is the page of the jobs, newest first.
func (s *Site) listJobs(w http.ResponseWriter, r *http.Request) {
	from := r.FormValue("from")
	answer, err := s.jobs.List(s.as(r), call(r, &pb.ListRequest{Limit: jobsOfPage, PageToken: from}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view := jobList{First: from == ""}
	for _, job := range answer.Msg.GetJobs() {
		view.Jobs = append(view.Jobs, jobRow{job, stateOf(job)})
	}
	if next := answer.Msg.GetNextPageToken(); next != "" {
		view.Older = "?" + url.Values{"from": {next}}.Encode()
	}
	s.view(w, r, "jobs", "jobs", "Jobs", view)
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
