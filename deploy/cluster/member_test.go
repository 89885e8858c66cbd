package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/gram-compute/gram/deploy/cluster"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

func TestAwaitVotesCountsHealthyVoters(t *testing.T) {
	members := []*pb.Member{
		{Id: "c1", Voter: true, Leader: true, Healthy: true}, {Id: "c2", Voter: true},
		{Id: "c3", Healthy: true}, {Id: "c4", Voter: true, Healthy: true},
	}
	list := func(context.Context) []*pb.Member { return members }
	if err := cluster.AwaitVotes(t.Context(), 2, list); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := cluster.AwaitVotes(ctx, 3, list); err == nil {
		t.Error("a member that is not healthy, or has no vote, was counted")
	}
	if id := cluster.Leader(members); id != "c1" || cluster.Leader(nil) != "" {
		t.Errorf("the leader is %q", id)
	}
}
