package web

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/style"
)

// listPace is how often a list that somebody looks at is asked for.
const listPace = 2 * time.Second

// jobList is the view of a page of jobs.
type jobList struct {
	listAsk
	Jobs        []listRow
	Matching    string
	Kinds       []string
	Live        string // where its moving part comes from
	First, Next string // other pages; empty where there is no such page
}

// listRow is a job in a list. It is flat: a template finds a field of an embedded message by a search.
type listRow struct {
	ID, Name, Kind, State string
	Percent               string // of the open round of a running job that is done; empty where that is not known
	Took                  string // in whole seconds for a job that has not ended
	Submitted             string
}

func listRowOf(job *pb.Job) listRow {
	state := stateOf(job)
	row := listRow{ID: job.GetId(), Name: job.GetName(), Kind: job.GetKind(), State: state.Word,
		Submitted: moment(job.GetSubmittedUnixMs())}
	seconds := jobRow{job, state}.Seconds()
	if !state.Ended {
		seconds = math.Floor(seconds)
	}
	row.Took = style.Clock(seconds)
	if job.GetState() == pb.JobState_JOB_STATE_RUNNING && job.GetProgress().GetLeaves() > 0 {
		row.Percent = strconv.Itoa(int(state.Share)) + " %"
	}
	return row
}

// listJobs is the page of the jobs.
func (s *Site) listJobs(w http.ResponseWriter, r *http.Request) {
	ask, ok := s.askOf(w, r)
	if !ok {
		return
	}
	view, err := s.list(r.Context(), r, ask)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.view(w, r, "jobs", "jobs", "Jobs", view)
}

// jobsLive sends the moving part of a list, again when it has changed.
func (s *Site) jobsLive(w http.ResponseWriter, r *http.Request) {
	ask, ok := s.askOf(w, r)
	if !ok {
		return
	}
	look := func(ctx context.Context, r *http.Request) (string, error) {
		view, err := s.list(ctx, r, ask)
		if err != nil {
			return "", err
		}
		return s.wholePiece("jobs-live", view)
	}
	s.stream(w, r, "jobs"+ask.query(), s.feeds.poll(listPace, look))
}

// askOf reads the address; false if it has told why that cannot be read.
func (s *Site) askOf(w http.ResponseWriter, r *http.Request) (ask listAsk, ok bool) {
	ask, err := parseAsk(r.URL.Query())
	if err != nil {
		s.refuse(w, r, err.Error())
	}
	return ask, err == nil
}

// refuse says what is wrong with an address.
func (s *Site) refuse(w http.ResponseWriter, r *http.Request, why string) {
	s.show(w, r, http.StatusBadRequest, "problem", &page{Title: "Not possible", Out: formKey(r, "/logout"), View: why})
}

// list asks for a page of jobs in the name of one who looks.
func (s *Site) list(ctx context.Context, r *http.Request, ask listAsk) (*jobList, error) {
	answer, err := s.jobs.List(context.WithValue(ctx, callerKey{}, r), call(r, ask.request()))
	if err != nil {
		return nil, err
	}
	view := &jobList{listAsk: ask, Matching: grouped(answer.Msg.GetMatching()), Kinds: answer.Msg.GetKinds(),
		Live: "/live/jobs" + ask.query()}
	for _, job := range answer.Msg.GetJobs() {
		view.Jobs = append(view.Jobs, listRowOf(job))
	}
	if ask.Kind != "" && !slices.Contains(view.Kinds, ask.Kind) {
		view.Kinds = append(view.Kinds, ask.Kind) // or the form would ask for another
	}
	if ask.From != "" {
		first := ask
		first.From = ""
		view.First = "/jobs" + first.query()
	}
	if next := answer.Msg.GetNextPageToken(); next != "" {
		ask.From = next
		view.Next = "/jobs" + ask.query()
	}
	return view, nil
}

// heading is that of a column, a link that orders the list by it.
type heading struct {
	column
	Href string
	Aria string // how the list is ordered by it; empty where it is not
}

// Headings are those of the table.
func (v *jobList) Headings() []heading {
	var all []heading
	for _, c := range columns {
		h, up, ask := heading{column: c}, c.up, v.listAsk
		if columnOf(v.Sort).Sort == c.Sort {
			up = !v.ascending()
			h.Aria = map[bool]string{true: "ascending", false: "descending"}[v.ascending()]
		}
		ask.Sort, ask.Dir, ask.From = c.Sort, map[bool]string{true: "asc", false: "desc"}[up], ""
		h.Href = "/jobs" + ask.query()
		all = append(all, h)
	}
	return all
}

// Words are those that the form offers for a state.
func (v *jobList) Words() []string { return stateWords() }

// grouped writes a number with its thousands apart.
func grouped(n uint32) string {
	digits := strconv.FormatUint(uint64(n), 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
