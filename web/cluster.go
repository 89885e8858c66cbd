package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// clusterPace is how often a cluster that somebody looks at is asked for.
const clusterPace = 5 * time.Second

// clusterView is the cluster as its page shows it.
type clusterView struct {
	*pb.StatusResponse
	Members []*pb.Member
	Alerts  []alert
	Slots   uint32     // of all workers
	Tasks   uint32     // that they are at
	Sets    []fleetRow // workers by kernel set
	Shown   []workerRow
	Page    int // of the table of workers, from 1
	Pages   int
}

// clusterPage is the page of the members and workers.
func (s *Site) clusterPage(w http.ResponseWriter, r *http.Request) {
	page, ok := s.askWorkers(w, r)
	if !ok {
		return
	}
	view, err := s.lookAtCluster(r.Context(), r, page)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.view(w, r, "cluster", "cluster", "Cluster", view)
}

// clusterLive sends the moving part of the cluster's page, again when it has changed.
func (s *Site) clusterLive(w http.ResponseWriter, r *http.Request) {
	page, ok := s.askWorkers(w, r)
	if !ok {
		return
	}
	look := func(ctx context.Context, r *http.Request) (string, error) {
		view, err := s.lookAtCluster(ctx, r, page)
		if err != nil {
			return "", err
		}
		return s.wholePiece("cluster-live", view)
	}
	s.stream(w, r, "cluster "+strconv.Itoa(page), s.feeds.poll(clusterPace, look))
}

// mostPages bounds the pages of workers that an address may ask for.
const mostPages = 1_000_000

// askWorkers reads which page of the workers is asked for; false if it has told why that cannot be read.
func (s *Site) askWorkers(w http.ResponseWriter, r *http.Request) (page int, ok bool) {
	form, problem := r.URL.Query(), ""
	for name, values := range form { // in any order
		if name != "page" || len(values) > 1 {
			problem = fmt.Sprintf("the cluster has no %.80q: it has page, once", name)
		}
	}
	page = 1
	if text := form.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostPages || strconv.Itoa(n) != text {
			problem = fmt.Sprintf("page is %.80q, which is no page of workers", text)
		}
		page = n
	}
	if problem != "" {
		s.refuse(w, r, problem)
	}
	return page, problem == ""
}

// lookAtCluster asks for the cluster in the name of one who looks.
func (s *Site) lookAtCluster(ctx context.Context, r *http.Request, page int) (*clusterView, error) {
	ctx = context.WithValue(ctx, callerKey{}, r)
	status, err := s.cluster.Status(ctx, call(r, &pb.StatusRequest{Brief: true}))
	if err != nil {
		return nil, err
	}
	members, err := s.cluster.Members(ctx, call(r, &pb.MembersRequest{}))
	if err != nil {
		return nil, err
	}
	view := &clusterView{StatusResponse: status.Msg, Members: members.Msg.GetMembers(), Page: page,
		Sets: fleet(status.Msg.GetWorkers())}
	for _, set := range view.Sets {
		view.Tasks, view.Slots = view.Tasks+set.Tasks, view.Slots+set.Slots
	}
	view.Alerts = alertsOf(status.Msg, view.Members)
	workers := view.GetWorkers()
	slices.SortFunc(workers, inTrouble)
	view.Pages = max(1, (len(workers)+workersOfPage-1)/workersOfPage)
	from := min((page-1)*workersOfPage, len(workers))
	for _, w := range workers[from:min(from+workersOfPage, len(workers))] {
		view.Shown = append(view.Shown, workerRowOf(w))
	}
	return view, nil
}

// Live is where the moving part of the page comes from.
func (v *clusterView) Live() string { return v.at("/live/cluster", v.Page) }

// Before and After are other pages of the workers; empty where there is no such page.
func (v *clusterView) Before() string {
	if v.Page == 1 {
		return ""
	}
	return v.at("/cluster", min(v.Page-1, v.Pages))
}

// After is the next page.
func (v *clusterView) After() string {
	if v.Page >= v.Pages {
		return ""
	}
	return v.at("/cluster", v.Page+1)
}

func (v *clusterView) at(path string, page int) string {
	if page > 1 {
		path += "?" + url.Values{"page": {strconv.Itoa(page)}}.Encode()
	}
	return path
}

// Load is how much of the slots is at work, in percent.
func (v *clusterView) Load() string {
	if v.Slots == 0 {
		return "0"
	}
	return strconv.FormatFloat(100*float64(v.Tasks)/float64(v.Slots), 'f', 0, 64)
}

// Agreed is who was found to have the same state.
func (v *clusterView) Agreed() string { return strings.Join(v.GetCheckpointAgreed(), ", ") }

// Log is the size of the leader's log and of its snapshots.
func (v *clusterView) Log() string {
	return size(int64(v.GetRaftLogBytes())) + " on disk, snapshots " + size(int64(v.GetRaftSnapshotBytes()))
}
