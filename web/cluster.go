package web

import (
	"net/http"

	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// clusterView is the cluster as its page shows it.
type clusterView struct {
	*pb.StatusResponse
	Members []*pb.Member
	Slots   uint32 // of all workers
	Tasks   uint32 // that they are at
}

// clusterPage is the page of the members and workers.
func (s *Site) clusterPage(w http.ResponseWriter, r *http.Request) {
	status, err := s.cluster.Status(s.as(r), call(r, &pb.StatusRequest{}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	members, err := s.cluster.Members(s.as(r), call(r, &pb.MembersRequest{}))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	view := clusterView{StatusResponse: status.Msg, Members: members.Msg.GetMembers()}
	for _, worker := range view.GetWorkers() {
		view.Slots, view.Tasks = view.Slots+worker.GetSlots(), view.Tasks+worker.GetTasks()
	}
	s.view(w, r, "cluster", "cluster", "Cluster", view)
}
