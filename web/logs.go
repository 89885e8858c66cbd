package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// logLine is what a worker writes of a task; see worker.
type logLine struct {
	Time, Level, Event, Worker, Task, Verdict, Code, Message string
	Round, Tree                                              uint32
	Height                                                   uint32 `json:"node_level"`
	Index                                                    uint32 `json:"node_index"`
	Again                                                    bool
	Pieces, Lines                                            int
	Seconds                                                  float64
}

// cutLine bounds a line of a page that shows the last ones: a worker's may have as many bytes as a segment of the log.
func cutLine(text string) string {
	if len(text) <= bytesOfLine {
		return text
	}
	return strings.ToValidUTF8(text[:bytesOfLine], "") + "…"
}

// lineText writes a line of a log for people. What is not a line of a worker stays as it is.
func lineText(text string) string {
	var l logLine
	if json.Unmarshal([]byte(text), &l) != nil || l.Time == "" || l.Event == "" {
		return protocol.Visible(text)
	}
	at := strings.Replace(l.Time, "T", " ", 1)
	at = at[:min(len(at), len("2026-01-02 15:04:05.000"))]
	words := []string{at, fmt.Sprintf("%-5s", l.Level), l.Worker, taskText(l), l.Event}
	add := func(there bool, format string, value any) {
		if there {
			words = append(words, fmt.Sprintf(format, value))
		}
	}
	add(l.Verdict != "", "%s", l.Verdict)
	add(l.Again, "%s", "with its other kernel set")
	add(l.Pieces > 0, "%v pieces", l.Pieces)
	add(l.Seconds > 0, "%.4g s", l.Seconds)
	add(l.Lines > 0, "%v lines", l.Lines)
	add(!strings.HasPrefix(l.Message, l.Code), "%s", l.Code)
	add(l.Message != "", "%s", l.Message)
	return protocol.Visible(strings.Join(words, " ")) // an end of line would be one of the log
}

// taskText names the task of a line as the coordinator does.
func taskText(l logLine) string {
	switch l.Task {
	case "node":
		return fmt.Sprintf("round %d, tree %d, node %d/%d:", l.Round, l.Tree, l.Height, l.Index)
	case "step":
		return fmt.Sprintf("round %d, step:", l.Round)
	}
	return l.Task + ":"
}

// logView is the page of a job's log, but for the lines.
type logView struct {
	*pb.Job
	State State
	From  string // where the lines of the page end
}

// logPage sends the whole log of a job, as it is read.
func (s *Site) logPage(w http.ResponseWriter, r *http.Request) {
	job, ok := s.asked(w, r)
	if !ok {
		return
	}
	stream, err := s.jobs.Logs(s.as(r), call(r, &pb.LogsRequest{Id: job.GetId()}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer stream.Close()
	view := logView{Job: job, State: stateOf(job)}
	p := &page{Title: "Log of " + title(job), Here: "jobs", Out: formKey(r, "/logout"), View: &view}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	put := func(name string, what any) bool {
		html, err := s.render(name, what)
		if err == nil {
			_, err = w.Write([]byte(html))
		}
		return err == nil
	}
	if !put("log-begin", p) || r.Method == http.MethodHead {
		return
	}
	for stream.Receive() {
		if view.From = stream.Msg().GetCursor(); !put("log-lines", textsOf(stream.Msg())) {
			return // who looked has gone
		}
	}
	if err := stream.Err(); err != nil { // a token that has ended leaves a log that is not whole
		put("log-cut", message(err))
		return
	}
	put("log-end", p)
}

func textsOf(m *pb.LogsResponse) []string {
	texts := make([]string, len(m.GetLines()))
	for i, line := range m.GetLines() {
		texts[i] = lineText(line)
	}
	return texts
}

// Further is the address of the lines that come after those of the page.
func (v *logView) Further() string {
	return "/jobs/" + url.PathEscape(v.GetId()) + "/logs/live?" + url.Values{"from": {v.From}}.Encode()
}

// logLive sends the lines of a job's log after those of a page, until the job has ended.
func (s *Site) logLive(w http.ResponseWriter, r *http.Request) {
	stream, err := s.jobs.Logs(s.as(r),
		call(r, &pb.LogsRequest{Id: r.PathValue("id"), Follow: true, Cursor: r.FormValue("from")}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer stream.Close()
	begin(w)
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return
	}
	for stream.Receive() {
		html, err := s.render("log-lines", textsOf(stream.Msg()))
		if err != nil {
			return
		}
		if _, err := w.Write(event("more", html)); err != nil || control.Flush() != nil {
			return // who looked has gone
		}
	}
	last := event("end", "")
	if err := stream.Err(); err != nil {
		last = event("problem", message(err))
	}
	if r.Context().Err() == nil {
		_, _ = w.Write(last) // who looked may have gone
	}
}
