package web

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobView is a job as its page shows it.
type jobView struct {
	*shown
	Report bool // it has a report page
}

// job is the page of a job.
func (s *Site) job(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.view(w, r, "job", "jobs", title(job), jobView{jobWatch{s}.know(r, job), hasReport(job)})
}

// know asks for all that the page of a job shows. What cannot be had is missing: the job itself is there.
func (s jobWatch) know(r *http.Request, job *pb.Job) *shown {
	known, ctx := newShown(), s.as(r)
	known.take(job)
	var asking sync.WaitGroup
	for _, ask := range []func(context.Context, *http.Request, *shown) error{s.askLeaves, s.askCourse, s.askLog,
		func(ctx context.Context, r *http.Request, k *shown) error {
			return s.askMetrics(ctx, r, k, roundsOfCurve+1)
		}} {
		asking.Go(func() { _ = ask(ctx, r, known) }) // each fills in a field of its own
	}
	asking.Wait()
	return known
}

// askLog asks for the last lines of the log.
func (s jobWatch) askLog(ctx context.Context, r *http.Request, known *shown) error {
	stream, err := s.jobs.Logs(ctx, call(r, &pb.LogsRequest{Id: known.Job.GetId(), Tail: linesOfPage}))
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		known.addLines(stream.Msg())
	}
	return stream.Err()
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

func title(job *pb.Job) string {
	if job.GetName() != "" {
		return job.GetName()
	}
	return job.GetId()
}

// reportName is what a job's report page is called among its outputs.
const reportName = "report.html"

// hasReport reports whether a job has a report page: a worker wrote it, or the leader where the job did not succeed.
func hasReport(job *pb.Job) bool {
	if state := stateOf(job); state.Ended && job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		return true
	}
	for _, o := range job.GetOutputs() {
		if o.GetName() == reportName {
			return true
		}
	}
	return false
}

// report is the report page of a job that has ended. It is a whole page that a worker or the leader wrote: it may bring
// its own styles, and nothing else works in it.
func (s *Site) report(w http.ResponseWriter, r *http.Request) {
	answer, err := s.jobs.Report(s.as(r), call(r, &pb.ReportRequest{Id: r.PathValue("id")}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Method != http.MethodHead {
		_, _ = w.Write(answer.Msg.GetPage()) // who asked may have gone
	}
}

// askCancel asks whether a job is to be cancelled.
func (s *Site) askCancel(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	s.view(w, r, "cancel", "jobs", "Cancel "+title(job), cancelView{
		jobRow{job, stateOf(job)}, formKey(r, "/jobs/"+job.GetId()+"/cancel")})
}

type cancelView struct {
	jobRow
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
