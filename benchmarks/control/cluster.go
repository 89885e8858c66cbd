package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gram-compute/gram/deploy/cluster"
	"github.com/gram-compute/gram/deploy/process"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// patience is for what must come true sooner or later.
const patience = time.Minute

// quorum is coordinators as processes of the built binary, on loopback.
type quorum struct {
	binary, home, store string
	members             []cluster.Member
	processes           []*process.Process
	client              *http.Client // of an admin, for the calls below
	services            []gramv1connect.ClusterServiceClient
	jobs                gramv1connect.JobServiceClient
}

func (q *quorum) first() cluster.Home { return cluster.Home(q.members[0].Data) }

// start starts n coordinators, of which the first begins the cluster, and waits until all have a vote.
func start(ctx context.Context, binary, home string, n int) (*quorum, error) {
	q := &quorum{binary: binary, home: home, store: "file://" + filepath.Join(home, "store")}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return q, err
	}
	addresses, err := process.Addresses(2 * n)
	if err != nil {
		return q, err
	}
	for i := range n {
		id := fmt.Sprint("c", i+1)
		q.members = append(q.members, cluster.Member{
			ID: id, API: addresses[2*i], Raft: addresses[2*i+1], Data: filepath.Join(home, id)})
		if err := q.add(ctx, i); err != nil {
			return q, err
		}
	}
	return q, nil
}

// add starts a member, and returns when it has a vote.
func (q *quorum) add(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m := q.members[i]
	flags := []string{"--promote-after", "500ms", "--call-rate", "-1"}
	if i > 0 {
		issue := exec.CommandContext(ctx, q.binary, q.first().Issue(m, "localhost")...)
		issue.Env = process.Bare(q.home)
		if out, err := issue.CombinedOutput(); err != nil {
			return fmt.Errorf("gram pki issue: %w\n%s", err, out)
		}
		flags = append(flags, q.first().Join(q.members[0].API)...)
	}
	if err := q.launch(m, flags); err != nil {
		return err
	}
	if err := process.Until(ctx, "c1 to make its tokens", q.first().Ready); err != nil {
		return err
	}
	client, token, err := q.first().Client(0)
	if err != nil {
		return err
	}
	q.client = client
	q.services = append(q.services, gramv1connect.NewClusterServiceClient(client, "https://"+m.API, token))
	if i == 0 {
		q.jobs = gramv1connect.NewJobServiceClient(client, "https://"+m.API, token)
	}
	return cluster.AwaitVotes(ctx, i+1, func(ctx context.Context) []*pb.Member {
		return cluster.List(ctx, q.services...)
	})
}

func (q *quorum) launch(m cluster.Member, flags []string) error {
	log, err := os.Create(filepath.Join(q.home, m.ID+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(q.binary, m.Arguments(q.store, flags...)...)
	cmd.Env = process.Bare(q.home)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := process.Launch(cmd)
	if err == nil {
		q.processes = append(q.processes, p)
	}
	return err
}

// stop ends what runs.
func (q *quorum) stop() {
	for _, p := range q.processes {
		p.Kill()
	}
}

// ticksPerSecond is the unit of the kernel's times of a process, the same on every Linux.
const ticksPerSecond = 100

// spent is the time that a process has had a processor.
func spent(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	ticks := 0
	for _, field := range fields[11:13] { // in user mode, and in the kernel
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// idler is what a member of an idle cluster took of a processor.
type idler struct {
	member string
	leader bool
	share  float64
}

// settling is how long a cluster is left alone before it counts as idle.
const settling = 5 * time.Second

// watchIdle starts three coordinators and measures what they take while nobody calls them.
func watchIdle(ctx context.Context, binary, home string, watched time.Duration) (found []idler, err error) {
	q, err := start(ctx, binary, home, 3)
	defer q.stop()
	if err != nil {
		return nil, err
	}
	q.client.CloseIdleConnections()
	leader := cluster.Leader(cluster.List(ctx, q.services...))
	if err := pause(ctx, settling); err != nil {
		return nil, err
	}
	var before []time.Duration
	began := time.Now()
	for _, p := range q.processes {
		cpu, err := spent(p.PID())
		if err != nil {
			return nil, err
		}
		before = append(before, cpu)
	}
	if err := pause(ctx, watched); err != nil {
		return nil, err
	}
	for i, p := range q.processes {
		cpu, err := spent(p.PID())
		if err != nil {
			return nil, err
		}
		id := q.members[i].ID
		found = append(found, idler{member: id, leader: id == leader,
			share: (cpu - before[i]).Seconds() / time.Since(began).Seconds()})
	}
	return found, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
