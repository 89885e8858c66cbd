package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

const members = 3

// patience is for what must come true sooner or later.
const patience = time.Minute

// member is a coordinator, the same through restarts.
type member struct {
	cluster.Member
	process  *process.Process // nil before its first start
	services gramv1connect.ClusterServiceClient
	jobs     gramv1connect.JobServiceClient
}

// quorum is three coordinators as processes of the built binary, on loopback.
type quorum struct {
	binary, home string
	members      []*member
}

// first is the data directory of the member that begins the cluster.
func (q *quorum) first() cluster.Home { return cluster.Home(q.members[0].Data) }

// start starts c1, which begins the cluster, and lets the others join it.
func start(ctx context.Context, binary, home string) (*quorum, error) {
	q := &quorum{binary: binary, home: home}
	addresses, err := process.Addresses(2 * members)
	if err != nil {
		return q, err
	}
	for i := range members {
		id := fmt.Sprint("c", i+1)
		q.members = append(q.members, &member{Member: cluster.Member{
			ID: id, API: addresses[2*i], Raft: addresses[2*i+1], Data: filepath.Join(home, id)}})
		if err := q.add(ctx, i); err != nil {
			return q, err
		}
	}
	return q, nil
}

// add starts a member for the first time, and returns when it has a vote.
func (q *quorum) add(ctx context.Context, i int) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := q.members[i]
	if i > 0 {
		issue := q.command(limited, q.first().Issue(m.Member, "localhost")...)
		if out, err := issue.CombinedOutput(); err != nil {
			return fmt.Errorf("gram pki issue: %w\n%s", err, out)
		}
	}
	if err := q.begin(m); err != nil {
		return err
	}
	if err := process.Until(limited, "c1 to make its tokens", q.first().Ready); err != nil {
		return err
	}
	client, token, err := q.first().Client(0)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, client.CloseIdleConnections)
	m.services = gramv1connect.NewClusterServiceClient(client, "https://"+m.API, token)
	m.jobs = gramv1connect.NewJobServiceClient(client, "https://"+m.API, token)
	return q.awaitVotes(ctx, i+1)
}

func (q *quorum) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, q.binary, args...)
	cmd.Env = process.Bare(q.home)
	return cmd
}

// begin starts, or starts again, a member. It ends by kill or stop only.
func (q *quorum) begin(m *member) error {
	flags := []string{"--promote-after", "500ms"}
	if first := q.members[0]; m != first {
		flags = append(flags, q.first().Join(first.API)...)
	}
	log, err := os.OpenFile(filepath.Join(q.home, m.ID+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := q.command(context.Background(), m.Arguments("file://"+filepath.Join(q.home, "store"), flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	m.process, err = process.Launch(cmd)
	return err
}

// kill ends a member with SIGKILL and returns when the signal was sent.
func (m *member) kill() time.Time {
	at := time.Now()
	m.process.Kill()
	return at
}

// stop ends what runs.
func (q *quorum) stop() {
	for _, m := range q.members {
		if m.process != nil {
			m.process.Kill()
		}
	}
}

// list is who belongs to the cluster, as the first member that answers says.
func (q *quorum) list(ctx context.Context) []*pb.Member {
	var started []gramv1connect.ClusterServiceClient
	for _, m := range q.members {
		if m.services != nil {
			started = append(started, m.services)
		}
	}
	return cluster.List(ctx, started...)
}

// awaitVotes waits until that number of members have a vote and are healthy.
func (q *quorum) awaitVotes(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return cluster.AwaitVotes(ctx, n, q.list)
}

// leader waits for there to be one.
func (q *quorum) leader(ctx context.Context) (leader *member, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = process.Until(ctx, "a leader", func() bool {
		id := cluster.Leader(q.list(ctx))
		for _, m := range q.members {
			if m.ID == id {
				leader = m
			}
		}
		return leader != nil
	})
	return leader, err
}
