package web

import (
	"net/http"
	"net/url"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// againView is the question whether a job that has ended is to be run again.
type againView struct {
	jobRow
	Key string
	New string // the id of the new job: a form that is sent twice makes one
}

// askAgain asks whether a job is to be run again.
func (s *Site) askAgain(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.view(w, r, "again", "jobs", "Run "+title(job)+" again", againView{jobRow{job, stateOf(job)},
		formKey(r, "/jobs/"+job.GetId()+"/again"), protocol.NewJobID(job.GetName(), job.GetKind())})
}

// again submits the spec of a job as a new one.
func (s *Site) again(w http.ResponseWriter, r *http.Request) {
	id := r.PostFormValue("new")
	if !checkForm(r) || !protocol.ValidJobID(id) {
		s.refuseForm(w, r)
		return
	}
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	if _, err := s.jobs.Submit(s.as(r), call(r, &pb.SubmitRequest{Id: id, SpecJson: job.GetSpecJson()})); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/jobs/"+url.PathEscape(id), http.StatusSeeOther)
}
