package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [JOB]",
		Short: "Show a job, or the cluster",
		Example: `  gram status
  gram status glosses-k3f9p2
  gram status glosses-k3f9p2 -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.clusterStatus(cmd.Context(), c)
			}
			job, err := c.find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				view := viewJob(job)
				view.SchemaVersion = schemaVersion
				return a.printJSON(view)
			}
			a.printJob(job)
			return nil
		},
	}
}

// printJob prints a job for people.
func (a *app) printJob(job *gramv1.Job) {
	palette := a.palette(a.out)
	state := stateName(job.GetState())
	if job.GetReason() != "" && !ended(job.GetState()) {
		state += ": " + job.GetReason()
	}
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 1 {
			return paintState(palette, text)
		}
		return palette.Faint(text)
	}}
	table.Row("job", job.GetId())
	table.Row("kind", job.GetKind())
	table.Row("state", state)
	if p := job.GetProgress(); p.GetPhase() != "" && !ended(job.GetState()) {
		table.Row("progress", fmt.Sprintf("round %d %s, %d of %d leaves, %d tasks leased",
			p.GetRound(), p.GetPhase(), p.GetLeavesDone(), p.GetLeaves(), p.GetTasksLeased()))
	}
	if job.GetScheduleId() != "" {
		table.Row("schedule", job.GetScheduleId()+", slot "+clock(job.GetSlotUnixMs()))
	}
	table.Row("submitted", timestamp(job.GetSubmittedUnixMs())+"  "+a.took(job))
	if n := job.GetCounters(); n != nil {
		table.Row("tasks", fmt.Sprintf("%d committed, %d duplicate, %d superseded, %d violations",
			n.GetCommitted(), n.GetDuplicates(), n.GetSuperseded(), n.GetViolations()))
		if b := n.GetBackups(); b.GetLaunched() > 0 {
			table.Row("speculative copies", backupsText(b))
		}
		if r := n.GetRemade(); r.GetChanges() > 0 {
			table.Row("made again", remadeText(r))
		}
	}
	if text := auditText(job.GetAudit()); text != "" {
		table.Row("audits", text)
	}
	if f := job.GetFailure(); f != nil {
		table.Row("failure", failureText(f))
	}
	table.Row("spec", job.GetSpecHash())
	table.Row("result", job.GetResultHash())
	table.Write(a.out)
	a.printRounds(job)
	a.printOutputs(job)
}

func backupsText(b *gramv1.Backups) string {
	return fmt.Sprintf("%d launched, %d won, %d wasted", b.GetLaunched(), b.GetWon(), b.GetWasted())
}

func (a *app) took(job *gramv1.Job) string {
	from := time.UnixMilli(job.GetSubmittedUnixMs())
	if job.GetFinishedUnixMs() == 0 {
		return "(" + terminal.Elapsed(a.now().Sub(from)) + " ago)"
	}
	return "(took " + terminal.Elapsed(time.UnixMilli(job.GetFinishedUnixMs()).Sub(from)) + ")"
}

func (a *app) printRounds(job *gramv1.Job) {
	if len(job.GetRounds()) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	var table terminal.Table
	table.Row("ROUND", "PHASE", "LEAVES", "TIME")
	for _, r := range job.GetRounds() {
		took := time.Duration(r.GetFinishedUnixMs()-r.GetStartedUnixMs()) * time.Millisecond
		table.Row(strconv.Itoa(int(r.GetRound())), r.GetPhase(), strconv.FormatUint(r.GetLeaves(), 10), terminal.Elapsed(took))
	}
	table.Write(a.out)
}

// printOutputs gives each of the long values a line of its own, so that they can be copied.
func (a *app) printOutputs(job *gramv1.Job) {
	for _, o := range job.GetOutputs() {
		fmt.Fprintf(a.out, "\n%s  %s\n  %s\n  sha256 %s\n", terminal.Clean(o.GetName()), size(o.GetSize()),
			terminal.Clean(o.GetUri()), hex.EncodeToString(o.GetSha256()))
	}
}

// size writes bytes for people.
func size(bytes int64) string {
	const unit = 1024
	switch {
	case bytes < unit:
		return protocol.ByteSize(bytes).String()
	case bytes < unit*unit:
		return fmt.Sprintf("%.1fKiB", float64(bytes)/unit)
	case bytes < unit*unit*unit:
		return fmt.Sprintf("%.1fMiB", float64(bytes)/(unit*unit))
	}
	return fmt.Sprintf("%.1fGiB", float64(bytes)/(unit*unit*unit))
}

type clusterView struct {
	SchemaVersion   int          `json:"schema_version"`
	ClusterID       string       `json:"cluster_id"`
	Leader          string       `json:"leader"`
	Term            uint64       `json:"term"`
	AppliedIndex    uint64       `json:"applied_index"`
	Version         string       `json:"version"`
	Store           string       `json:"store"`
	JobsActive      uint32       `json:"jobs_active"`
	JobsTotal       uint32       `json:"jobs_total"`
	LeasesGranted   uint64       `json:"leases_granted"`
	LeasesExpired   uint64       `json:"leases_expired"`
	CommittedLeased uint64       `json:"committed_leased"`
	StateSHA256     string       `json:"state_sha256"`
	Workers         []workerView `json:"workers"`

	BackupsLaunched uint64 `json:"backups_launched"`
	BackupsWon      uint64 `json:"backups_won"`
	BackupsWasted   uint64 `json:"backups_wasted"`

	CheckpointIndex      uint64   `json:"checkpoint_index"`
	CheckpointAgreed     []string `json:"checkpoint_agreed"`
	CheckpointMismatches uint64   `json:"checkpoint_mismatches"`
	RestoreEpoch         uint64   `json:"restore_epoch"`
	SchedulesHeldSince   string   `json:"schedules_held_since,omitempty"`
	Sweeps               sweeps   `json:"sweeps"`
	JobsRetired          uint32   `json:"jobs_retired"`
	Aliases              uint32   `json:"aliases"`
	RaftLogBytes         uint64   `json:"raft_log_bytes"`
	RaftSnapshotBytes    uint64   `json:"raft_snapshot_bytes"`

	Clock clockView `json:"clock"`
}

// sweeps is what the leader swept since it was elected.
type sweeps struct {
	Passes      uint64 `json:"passes"`
	Failures    uint64 `json:"failures"`
	JobsRetired uint64 `json:"jobs_retired"`
	Objects     uint64 `json:"objects"`
	Bytes       uint64 `json:"bytes"`
	Uploads     uint64 `json:"uploads"`
	Last        string `json:"last,omitempty"`
}

func viewSweeps(s *gramv1.SweepCounters) sweeps {
	v := sweeps{Passes: s.GetPasses(), Failures: s.GetFailures(), JobsRetired: s.GetJobsRetired(),
		Objects: s.GetObjects(), Bytes: s.GetBytes(), Uploads: s.GetUploads()}
	if s.GetLastUnixMs() != 0 {
		v.Last = timestamp(s.GetLastUnixMs())
	}
	return v
}

type workerView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Slots    uint32 `json:"slots"`
	Tasks    uint32 `json:"tasks"`
	Kernels  string `json:"kernels"`
	Build    string `json:"build"`
	LastSeen string `json:"last_seen"`
	Memory   int64  `json:"memory_bytes"`

	Quarantine string `json:"quarantine,omitempty"`
}

func (a *app) clusterStatus(ctx context.Context, c *cluster) error {
	res, err := c.services.Status(ctx, connect.NewRequest(&gramv1.StatusRequest{}))
	if err != nil {
		return c.explain(err)
	}
	s := res.Msg
	if a.flags.output == "json" {
		return a.printJSON(viewCluster(s))
	}
	palette := a.palette(a.out)
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 0 {
			return palette.Faint(text)
		}
		return text
	}}
	table.Row("cluster", s.GetClusterId())
	table.Row("leader", fmt.Sprintf("%s, term %d, log index %d", s.GetLeader(), s.GetTerm(), s.GetAppliedIndex()))
	table.Row("version", s.GetVersion())
	table.Row("store", s.GetStoreUri())
	table.Row("jobs", fmt.Sprintf("%d active of %d", s.GetJobsActive(), s.GetJobsTotal()))
	table.Row("leases", fmt.Sprintf("%d granted, %d expired", s.GetLeasesGranted(), s.GetLeasesExpired()))
	table.Row("speculative copies", backupsText(s.GetBackups()))
	table.Row("states", checkpointText(s))
	table.Row("clock", leaderClock(s.GetClock()))
	table.Row("on disk", fmt.Sprintf("%s log, %s snapshots", size(int64(s.GetRaftLogBytes())), size(int64(s.GetRaftSnapshotBytes()))))
	if at := s.GetSchedulesHeldUnixMs(); at != 0 {
		table.Row("schedules", "held since the cluster was restored as of "+clock(at)+"; `gram schedule release`")
	}
	table.Write(a.out)
	fmt.Fprintln(a.out)
	if len(s.GetWorkers()) == 0 {
		fmt.Fprintln(a.out, "no worker is registered")
		return nil
	}
	var workers terminal.Table
	workers.Row("WORKER", "SLOTS", "TASKS", "MEMORY", "KERNELS", "SEEN")
	for _, w := range s.GetWorkers() {
		workers.Row(w.GetName(), strconv.Itoa(int(w.GetSlots())), strconv.Itoa(int(w.GetTasks())), size(w.GetMemoryBytes()), w.GetKernels(),
			terminal.Elapsed(a.now().Sub(time.UnixMilli(w.GetLastSeenUnixMs())))+" ago")
	}
	workers.Write(a.out)
	for _, w := range s.GetWorkers() {
		if why := w.GetQuarantine(); why != "" {
			fmt.Fprintf(a.out, "\n%s is leased no tasks: %s\n", terminal.Clean(w.GetName()), why)
		}
	}
	return nil
}

// checkpointText says how the members' states compare.
func checkpointText(s *gramv1.StatusResponse) string {
	switch {
	case s.GetCheckpointMismatches() > 0:
		return fmt.Sprintf("DIFFER between members, seen %d times: see the leader's log", s.GetCheckpointMismatches())
	case s.GetCheckpointIndex() == 0:
		return "not compared between members since the leader was elected"
	}
	return fmt.Sprintf("equal on %s at log index %d", strings.Join(s.GetCheckpointAgreed(), ", "), s.GetCheckpointIndex())
}

func viewCluster(s *gramv1.StatusResponse) clusterView {
	v := clusterView{
		SchemaVersion: schemaVersion, ClusterID: s.GetClusterId(), Leader: s.GetLeader(), Term: s.GetTerm(),
		AppliedIndex: s.GetAppliedIndex(), Version: s.GetVersion(), Store: s.GetStoreUri(),
		JobsActive: s.GetJobsActive(), JobsTotal: s.GetJobsTotal(), LeasesGranted: s.GetLeasesGranted(),
		LeasesExpired: s.GetLeasesExpired(), CommittedLeased: s.GetCommittedLeased(),
		StateSHA256: hex.EncodeToString(s.GetStateSha256()), Workers: []workerView{},

		BackupsLaunched: s.GetBackups().GetLaunched(), BackupsWon: s.GetBackups().GetWon(), BackupsWasted: s.GetBackups().GetWasted(),

		CheckpointIndex: s.GetCheckpointIndex(), CheckpointAgreed: append([]string{}, s.GetCheckpointAgreed()...), CheckpointMismatches: s.GetCheckpointMismatches(),
		RestoreEpoch: s.GetRestoreEpoch(), SchedulesHeldSince: timestamp(s.GetSchedulesHeldUnixMs()),
		Sweeps: viewSweeps(s.GetSweeps()), JobsRetired: s.GetJobsRetired(), Aliases: s.GetAliases(),
		RaftLogBytes: s.GetRaftLogBytes(), RaftSnapshotBytes: s.GetRaftSnapshotBytes(), Clock: viewClock(s.GetClock()),
	}
	for _, w := range s.GetWorkers() {
		v.Workers = append(v.Workers, workerView{w.GetWorkerId(), w.GetName(), w.GetSlots(), w.GetTasks(),
			w.GetKernels(), w.GetBuild(), timestamp(w.GetLastSeenUnixMs()), w.GetMemoryBytes(), w.GetQuarantine()})
	}
	return v
}
