package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobsOfPage is how many jobs a page lists.
const jobsOfPage = 100

// listAsk is what the address of a list of jobs asks for. Empty fields ask for nothing.
type listAsk struct {
	State, Kind, Name, Schedule, Sort, Dir, From string
	Since                                        time.Time
}

// sinceLayout is how browsers write a time without a zone; it is one in UTC.
const sinceLayout = "2006-01-02T15:04"

// active is the word for all states of a job that has not ended.
const active = "active"

// activeStates are those states.
var activeStates = []pb.JobState{pb.JobState_JOB_STATE_QUEUED, pb.JobState_JOB_STATE_PLANNING,
	pb.JobState_JOB_STATE_RUNNING}

// stateWord is how a page writes a state.
func stateWord(s pb.JobState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "JOB_STATE_"))
}

// stateWords are those of all states, with the word for several before them.
func stateWords() []string {
	words := []string{active}
	for i := int32(1); i < int32(len(pb.JobState_name)); i++ {
		words = append(words, stateWord(pb.JobState(i)))
	}
	return words
}

// parseAsk reads the query of an address. What it does not know is an error: a list that leaves a filter out shows jobs
// that nobody asked for.
func parseAsk(form url.Values) (ask listAsk, err error) {
	var since string
	fields := map[string]*string{"state": &ask.State, "kind": &ask.Kind, "name": &ask.Name, "schedule": &ask.Schedule,
		"since": &since, "sort": &ask.Sort, "dir": &ask.Dir, "from": &ask.From}
	for name, values := range form { // in any order
		field := fields[name]
		switch {
		case field == nil:
			return ask, fmt.Errorf("a list has no %.80q: it has state, kind, name, schedule, since, sort, dir and from",
				name)
		case len(values) > 1:
			return ask, fmt.Errorf("%s stands more than once in the address", name)
		}
		*field = strings.TrimSpace(values[0])
	}
	switch {
	case ask.State != "" && !slices.Contains(stateWords(), ask.State):
		return ask, fmt.Errorf("no job is in a state %.80q: a state is one of %s", ask.State,
			strings.Join(stateWords(), ", "))
	case ask.Sort != "" && columnOf(ask.Sort) == nil:
		return ask, fmt.Errorf("nothing is sorted by %.80q: sort is one of submitted, took, name, kind and state",
			ask.Sort)
	case ask.Dir != "" && ask.Dir != "asc" && ask.Dir != "desc":
		return ask, fmt.Errorf("no direction is called %.80q: dir is asc or desc", ask.Dir)
	}
	ask.Since, err = parseSince(since)
	return ask, err
}

func parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{sinceLayout, "2006-01-02T15:04:05", time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.Unix() >= 0 {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("since is %.80q, which is no time after 1970: write %s, in UTC", text, sinceLayout)
}

// column is what a list may be ordered by.
type column struct {
	Sort  string // as the address has it, and the heading
	order pb.JobOrder
	up    bool // the smallest first, unless the address says otherwise
	Class string
}

// columns are in the order of the table.
var columns = []column{
	{"name", pb.JobOrder_JOB_ORDER_NAME, true, ""},
	{"state", pb.JobOrder_JOB_ORDER_STATE, true, ""},
	{"took", pb.JobOrder_JOB_ORDER_TOOK, false, "n"},
	{"kind", pb.JobOrder_JOB_ORDER_KIND, true, ""},
	{"submitted", pb.JobOrder_JOB_ORDER_SUBMITTED, false, ""},
}

func columnOf(name string) *column {
	at := slices.IndexFunc(columns, func(c column) bool { return c.Sort == cmp.Or(name, "submitted") })
	if at < 0 {
		return nil
	}
	return &columns[at]
}

// ascending reports whether the smallest comes first.
func (ask listAsk) ascending() bool {
	return ask.Dir == "asc" || ask.Dir == "" && columnOf(ask.Sort).up
}

// request is the call that answers.
func (ask listAsk) request() *pb.ListRequest {
	filter := &pb.JobFilter{Kind: ask.Kind, NameContains: ask.Name, ScheduleId: ask.Schedule}
	for number := range pb.JobState_name { // at most one is added
		if s := pb.JobState(number); ask.State == stateWord(s) {
			filter.States = []pb.JobState{s}
		}
	}
	if ask.State == active {
		filter.States = activeStates
	}
	if !ask.Since.IsZero() {
		filter.SinceUnixMs = ask.Since.UnixMilli()
	}
	return &pb.ListRequest{Limit: jobsOfPage, PageToken: ask.From, Filter: filter, Order: columnOf(ask.Sort).order,
		Ascending: ask.ascending()}
}

// query is the address again, without what asks for nothing. Lists with the same query are the same list.
func (ask listAsk) query() string {
	form := url.Values{}
	set := func(name, value string) {
		if value != "" {
			form.Set(name, value)
		}
	}
	set("state", ask.State)
	set("kind", ask.Kind)
	set("name", ask.Name)
	set("schedule", ask.Schedule)
	set("since", ask.SinceText())
	set("sort", ask.Sort)
	set("dir", ask.Dir)
	set("from", ask.From)
	if len(form) == 0 {
		return ""
	}
	return "?" + form.Encode()
}

// SinceText is the time as the form has it.
func (ask listAsk) SinceText() string {
	switch {
	case ask.Since.IsZero():
		return ""
	case ask.Since.Second() != 0:
		return ask.Since.Format("2006-01-02T15:04:05")
	}
	return ask.Since.Format(sinceLayout)
}

// Filtered reports whether the list may leave jobs out.
func (ask listAsk) Filtered() bool {
	ask.Sort, ask.Dir, ask.From = "", "", ""
	return ask != listAsk{}
}
