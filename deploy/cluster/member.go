package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/deploy/process"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Member is where a coordinator runs and what it keeps.
type Member struct {
	ID        string // "" lets the coordinator choose
	API, Raft string // addresses
	Data      string // its directory
}

// Arguments start the coordinator over a store.
func (m Member) Arguments(store string, flags ...string) []string {
	args := []string{"coordinator", "--data", m.Data, "--listen", m.API, "--raft", m.Raft, "--store", store}
	if m.ID != "" {
		args = append(args, "--node-id", m.ID)
	}
	return append(args, flags...)
}

// Issue is the call that makes the certificate of a member that is to join, for the names it is reached by.
func (h Home) Issue(m Member, names ...string) []string {
	return append([]string{"pki", "issue", "--ca", h.PKI(), "--out", filepath.Join(m.Data, "pki")}, names...)
}

// Join are the flags by which a coordinator joins the members at these API addresses.
func (h Home) Join(addresses ...string) []string {
	return []string{"--join", strings.Join(addresses, ","), "--token-file", h.AdminToken()}
}

// Worker are the arguments of a worker that serves the members at these API addresses.
func (h Home) Worker(name string, addresses []string, flags ...string) []string {
	return append([]string{"worker", "--addr", strings.Join(addresses, ","), "--cacert", h.CA(),
		"--token-file", h.WorkerToken(), "--name", name}, flags...)
}

// answerLimit bounds how long one member may take to name the others: it may be paused.
const answerLimit = 2 * time.Second

// List asks one member after the other who belongs to the cluster, and returns the first answer; nil if none answers.
func List(ctx context.Context, members ...gramv1connect.ClusterServiceClient) []*pb.Member {
	for _, m := range members {
		limited, cancel := context.WithTimeout(ctx, answerLimit)
		res, err := m.Members(limited, connect.NewRequest(&pb.MembersRequest{}))
		cancel()
		if err == nil {
			return res.Msg.GetMembers()
		}
	}
	return nil
}

// AwaitVotes lists the members until this many of them have a vote and are healthy.
func AwaitVotes(ctx context.Context, want int, list func(context.Context) []*pb.Member) error {
	return process.Until(ctx, fmt.Sprint(want, " healthy voters"), func() bool {
		voters := 0
		for _, m := range list(ctx) {
			if m.GetVoter() && m.GetHealthy() {
				voters++
			}
		}
		return voters == want
	})
}

// Leader is the id of the member that leads; "" if none does.
func Leader(members []*pb.Member) string {
	for _, m := range members {
		if m.GetLeader() {
			return m.GetId()
		}
	}
	return ""
}
