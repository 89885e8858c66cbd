package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/chaos/checker"
	"github.com/gram-compute/gram/chaos/cluster"
	"github.com/gram-compute/gram/chaos/nemesis"
	"github.com/gram-compute/gram/chaos/workload"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// again calls until there is an answer; a cluster that has just been healed may still elect.
func again(ctx context.Context, what string, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := call(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// reader reads the end of a run, from whichever member answers.
type reader struct {
	jobs      []gramv1connect.JobServiceClient
	schedules []gramv1connect.ScheduleServiceClient
	turn      int
}

func (t *trial) reader() (*reader, func(), error) {
	client, options, err := t.cluster.Client()
	if err != nil {
		return nil, nil, err
	}
	r := &reader{}
	for _, m := range t.cluster.Members {
		r.jobs = append(r.jobs, gramv1connect.NewJobServiceClient(client, "https://"+m.API, options))
		r.schedules = append(r.schedules, gramv1connect.NewScheduleServiceClient(client, "https://"+m.API, options))
	}
	return r, client.CloseIdleConnections, nil
}

// list returns all jobs, without their specs and rounds.
func (r *reader) list(ctx context.Context) (jobs []*pb.Job, err error) {
	page := ""
	for {
		var res *connect.Response[pb.ListResponse]
		err := again(ctx, "list the jobs", func(ctx context.Context) (err error) {
			r.turn++
			res, err = r.jobs[r.turn%len(r.jobs)].List(ctx,
				connect.NewRequest(&pb.ListRequest{Limit: 1000, PageToken: page}))
			return err
		})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, res.Msg.GetJobs()...)
		if page = res.Msg.GetNextPageToken(); page == "" {
			return jobs, nil
		}
	}
}

// awaitEnd waits until every job has ended, and returns how long that took; longer than the
// bound it does not wait.
func (t *trial) awaitEnd(ctx context.Context) (time.Duration, error) {
	r, release, err := t.reader()
	if err != nil {
		return 0, err
	}
	defer release()
	began := time.Now()
	for {
		jobs, err := r.list(ctx)
		if err != nil {
			return 0, err
		}
		active := 0
		for _, job := range jobs {
			if job.GetFinishedUnixMs() == 0 {
				active++
			}
		}
		waited := time.Since(began)
		if active == 0 || waited > t.bound {
			t.say("%d of %d jobs have not ended after %.1f s", active, len(jobs), waited.Seconds())
			return waited, ctx.Err()
		}
		timer := time.NewTimer(200 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// gather collects what the checker judges.
func (t *trial) gather(ctx context.Context, waited time.Duration) (*checker.Evidence, error) {
	e := &checker.Evidence{Operations: t.record.Operations(), Specs: t.expected, Bucket: cluster.Bucket, Store: t.store,
		Own: "cluster/", Given: "input/", Waited: waited, Bound: t.bound, Keep: t.keep,
		Logs: make(map[string]string), Damaged: t.nemesis.Damaged(), Vanished: make(map[string]bool),
		Lied: t.nemesis.Tally()[nemesis.LyingWorker].Done > 0}
	for _, path := range t.proxy.Vanished() {
		e.Vanished[strings.TrimPrefix(path, "/"+cluster.Bucket+"/")] = true
	}
	for _, exit := range t.exits {
		e.Exits = append(e.Exits, checker.Exit(exit))
	}
	if err := t.settle(ctx, e); err != nil {
		return nil, err
	}
	r, release, err := t.reader()
	if err != nil {
		return nil, err
	}
	defer release()
	for i := range t.schedules {
		err := again(ctx, "read a schedule", func(ctx context.Context) error {
			r.turn++
			res, err := r.schedules[r.turn%len(r.schedules)].GetSchedule(ctx,
				connect.NewRequest(&pb.GetScheduleRequest{Id: workload.ScheduleID(i)}))
			if err == nil {
				e.Schedules = append(e.Schedules, res.Msg.GetSchedule())
			}
			if connect.CodeOf(err) == connect.CodeNotFound { // for the checker to say
				return nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	e.Ended = time.Now()
	if e.Jobs, err = t.listJobs(ctx, r); err != nil {
		return nil, err
	}
	e.Sightings = t.archive.sightings()
	e.Jobs = append(e.Jobs, t.archive.retired()...)
	if err := t.backup(ctx, e); err != nil {
		return nil, err
	}
	return e, t.readLogs(e)
}

// settle waits until the replicas have the same entries, and asks each for its state's digest. Where they
// do not come to that, the checker is shown how they are.
func (t *trial) settle(ctx context.Context, e *checker.Evidence) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		before := e.Replicas
		e.Replicas = nil
		var failures []error
		for _, m := range t.cluster.Members {
			index, digest, err := t.cluster.Health(ctx, m)
			if err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", m.Now().ID, err))
				continue
			}
			e.Replicas = append(e.Replicas, checker.Replica{Member: m.Now().ID, Index: index, Digest: digest})
		}
		if len(e.Replicas) == members && atRest(before, e.Replicas) {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(failures...)
		}
	}
}

// atRest: the members have applied the same entries, and no more since they were asked before.
func atRest(before, now []checker.Replica) bool {
	if len(before) != len(now) {
		return false
	}
	for i := range now {
		if now[i].Index != now[0].Index || before[i] != now[i] {
			return false
		}
	}
	return true
}

// backup reads all that is decided.
func (t *trial) backup(ctx context.Context, e *checker.Evidence) error {
	file := filepath.Join(t.folder, "state.backup")
	env := []string{}
	addresses := ""
	for i, m := range t.cluster.Members {
		if i > 0 {
			addresses += ","
		}
		addresses += m.API
	}
	home := filepath.Join(t.folder, "c1")
	env = append(env, "GRAM_ADDR="+addresses, "GRAM_CACERT="+filepath.Join(home, "pki", "ca.pem"),
		"GRAM_TOKEN_FILE="+filepath.Join(home, "admin.token"))
	if _, err := t.cluster.Run(ctx, env, "cluster", "backup", file); err != nil {
		return err
	}
	var err error
	e.Backup, err = os.ReadFile(file)
	return err
}

func (t *trial) readLogs(e *checker.Evidence) error {
	e.Secrets = []string{cluster.SecretKey}
	for _, name := range []string{"admin.token", "worker.token"} {
		text, err := os.ReadFile(filepath.Join(t.folder, "c1", name))
		if err != nil {
			return err
		}
		e.Secrets = append(e.Secrets, strings.TrimSpace(string(text)))
	}
	for _, p := range t.cluster.Processes() {
		text, err := os.ReadFile(p.Log())
		if err != nil {
			return err
		}
		e.Logs[p.Name] = string(text)
	}
	return nil
}
