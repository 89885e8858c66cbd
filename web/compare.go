package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"connectrpc.com/connect"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// compareView is the page of two jobs beside each other.
type compareView struct {
	A, B    string // as they were asked for
	Problem string
	*pb.Comparison
	Parts        []fieldPart
	Apart, Alike []*pb.ComparedMetric // metrics that both jobs found, and that differ or do not
	Single       []*pb.ComparedMetric // that one of them found
	Drawn        []comparedCurve
}

// fieldPart is what differs of one part: the spec, the input or the build.
type fieldPart struct {
	Name string
	Rows []*pb.ComparedField
}

// comparePage is the form that asks for two jobs and, of two, the answer.
func (s *Site) comparePage(w http.ResponseWriter, r *http.Request) {
	view := compareView{}
	if view.A, view.B = pairOf(r); view.A == "" || view.B == "" {
		if chosen := len(r.Form["job"]); chosen > 0 {
			view.Problem = "Choose two jobs, not more and not fewer."
		}
		s.view(w, r, "compare", "compare", "Compare two jobs", view)
		return
	}
	answer, err := s.compares.CompareJobs(s.as(r), call(r, &pb.CompareJobsRequest{Left: view.A, Right: view.B}))
	if connect.CodeOf(err) == connect.CodeNotFound {
		view.Problem = message(err)
		s.show(w, r, http.StatusNotFound, "compare", &page{Title: "Compare two jobs", Here: "compare",
			Out: formKey(r, "/logout"), View: view})
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view.take(answer.Msg.GetComparison())
	s.view(w, r, "compare", "compare", "Compare two jobs", view)
}

// pairOf are the two jobs that a form names: as a and b, or chosen in a list.
func pairOf(r *http.Request) (a, b string) {
	if chosen := r.Form["job"]; len(chosen) == 2 {
		return chosen[0], chosen[1]
	}
	return strings.TrimSpace(r.FormValue("a")), strings.TrimSpace(r.FormValue("b"))
}

// take sorts an answer as the page shows it.
func (v *compareView) take(c *pb.Comparison) {
	v.Comparison = c
	for _, part := range []struct {
		of   pb.ComparedPart
		name string
	}{{pb.ComparedPart_COMPARED_PART_SPEC, "spec"}, {pb.ComparedPart_COMPARED_PART_INPUT, "input"},
		{pb.ComparedPart_COMPARED_PART_BUILD, "build"}} {
		found := fieldPart{Name: part.name}
		for _, f := range c.GetFields() {
			if f.GetPart() == part.of {
				found.Rows = append(found.Rows, f)
			}
		}
		v.Parts = append(v.Parts, found)
	}
	for _, m := range c.GetMetrics() {
		switch {
		case (m.Left == nil && m.GetLeftWord() == "") != (m.Right == nil && m.GetRightWord() == ""):
			v.Single = append(v.Single, m)
		case m.GetLeft() == m.GetRight() && m.GetLeftWord() == m.GetRightWord():
			v.Alike = append(v.Alike, m)
		default:
			v.Apart = append(v.Apart, m)
		}
	}
	for _, curve := range c.GetCurves() {
		v.Drawn = append(v.Drawn, compareCurves(curve))
	}
	slices.SortStableFunc(v.Drawn, func(a, b comparedCurve) int { return cmp.Compare(a.missing(), b.missing()) })
}

// Same and Different report how the models relate; neither, if not both jobs have one.
func (v compareView) Same() bool { return v.GetModel() == pb.SameModel_SAME_MODEL_SAME }

// Different is the other one.
func (v compareView) Different() bool { return v.GetModel() == pb.SameModel_SAME_MODEL_DIFFERENT }

// Sides are the two jobs, as rows of a table need them.
func (v compareView) Sides() []comparedSide {
	return []comparedSide{{v.GetLeft()}, {v.GetRight()}}
}

// comparedSide is one of the two.
type comparedSide struct{ *pb.ComparedJob }

// State is its state, in a word.
func (c comparedSide) State() State { return stateOf(&pb.Job{State: c.ComparedJob.GetState()}) }

// Took is how long it took; "" while that is not known.
func (c comparedSide) Took() string {
	if c.GetFinishedUnixMs() == 0 {
		return ""
	}
	return between(c.GetSubmittedUnixMs(), c.GetFinishedUnixMs())
}
