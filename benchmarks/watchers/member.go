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
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// patience is for what must come true sooner or later.
const patience = time.Minute

// member is one coordinator, which leads, as a process of the built binary on loopback.
type member struct {
	home    cluster.Home
	address string
	store   string
	process *process.Process
	client  *http.Client // for the calls below, and for pages
	cookie  string       // of an admin
	jobs    gramv1connect.JobServiceClient
	workers gramv1connect.WorkerServiceClient
}

// start starts a coordinator, and returns when it leads.
func start(ctx context.Context, binary, home string) (*member, error) {
	m := &member{}
	addresses, err := process.Addresses(2)
	if err != nil {
		return m, err
	}
	at := cluster.Member{ID: "c1", API: addresses[0], Raft: addresses[1], Data: filepath.Join(home, "c1")}
	m.home, m.address, m.store = cluster.Home(at.Data), at.API, "file://"+filepath.Join(home, "store")
	log, err := os.Create(filepath.Join(home, "c1.log"))
	if err != nil {
		return m, err
	}
	defer log.Close()
	cmd := exec.Command(binary, at.Arguments(m.store, "--call-rate", "-1")...)
	cmd.Env = process.Bare(home)
	cmd.Stdout, cmd.Stderr = log, log
	if m.process, err = process.Launch(cmd); err != nil {
		return m, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := process.Until(ctx, "c1 to make its tokens", m.home.Ready); err != nil {
		return m, err
	}
	return m, m.connect()
}

// connect makes the clients of an admin and of workers.
func (m *member) connect() error {
	client, admin, err := m.home.Client(patience)
	if err != nil {
		return err
	}
	token, err := cluster.ReadToken(m.home.WorkerToken())
	if err != nil {
		return err
	}
	reader, err := cluster.ReadToken(m.home.AdminToken())
	if err != nil {
		return err
	}
	m.client, m.cookie = client, reader
	m.jobs = gramv1connect.NewJobServiceClient(client, "https://"+m.address, admin)
	m.workers = gramv1connect.NewWorkerServiceClient(client, "https://"+m.address, cluster.Bearer(token))
	return nil
}

// stop ends the coordinator.
func (m *member) stop() {
	if m.process != nil {
		m.process.Kill()
	}
}

// ticksPerSecond is the unit of the kernel's times of a process, the same on every Linux.
const ticksPerSecond = 100

// spent is the time that the coordinator has had a processor.
func (m *member) spent() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.process.PID()))
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
