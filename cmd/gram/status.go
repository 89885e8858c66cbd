package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func statusCommand(a *app) *cobra.Command {
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
				return clusterStatus(cmd.Context(), a, c)
			}
			job, err := c.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.flags.output == "json" {
				view := show.OfJob(job)
				view.SchemaVersion = show.SchemaVersion
				return a.printJSON(view)
			}
			printJob(a, job)
			return nil
		},
	}
}

// printJob prints a job for people.
func printJob(a *app, job *gramv1.Job) {
	palette := a.palette(a.out)
	state := show.StateName(job.GetState())
	if job.GetReason() != "" && !client.Ended(job.GetState()) {
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
	if p := job.GetProgress(); p.GetPhase() != "" && !client.Ended(job.GetState()) {
		table.Row("progress", fmt.Sprintf("round %d %s, %d of %d leaves, %d tasks running",
			p.GetRound(), p.GetPhase(), p.GetLeavesDone(), p.GetLeaves(), p.GetTasksLeased()))
	}
	if text := show.ETAText(job.GetEta()); text != "" {
		table.Row("ETA", text)
	}
	if job.GetScheduleId() != "" {
		table.Row("schedule", job.GetScheduleId()+", tick "+show.Clock(job.GetTickUnixMs()))
	}
	table.Row("submitted", show.Timestamp(job.GetSubmittedUnixMs())+"  "+took(a, job))
	if n := job.GetCounters(); n != nil {
		table.Row("tasks", fmt.Sprintf("%d committed, %d duplicate, %d superseded, %d violations",
			n.GetCommitted(), n.GetDuplicates(), n.GetSuperseded(), n.GetViolations()))
		if b := n.GetSpeculativeCopies(); b.GetLaunched() > 0 {
			table.Row("speculative copies", copiesText(b))
		}
		if r := n.GetRemade(); r.GetChanges() > 0 {
			table.Row("made again", show.RemadeText(r))
		}
	}
	if text := show.AuditText(job.GetAudit()); text != "" {
		table.Row("audits", text)
	}
	if f := job.GetFailure(); f != nil {
		table.Row("failure", show.FailureText(f))
	}
	table.Row("spec", job.GetSpecHash())
	table.Row("result", job.GetResultHash())
	table.Write(a.out)
	printRounds(a, job)
	printOutputs(a, job)
}

func copiesText(b *gramv1.SpeculativeCopies) string {
	return fmt.Sprintf("%d launched, %d won, %d wasted", b.GetLaunched(), b.GetWon(), b.GetWasted())
}

func took(a *app, job *gramv1.Job) string {
	from := time.UnixMilli(job.GetSubmittedUnixMs())
	if job.GetFinishedUnixMs() == 0 {
		return "(" + terminal.Elapsed(a.now().Sub(from)) + " ago)"
	}
	return "(took " + terminal.Elapsed(time.UnixMilli(job.GetFinishedUnixMs()).Sub(from)) + ")"
}

func printRounds(a *app, job *gramv1.Job) {
	if len(job.GetRounds()) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	var table terminal.Table
	table.Row("ROUND", "PHASE", "LEAVES", "TIME")
	for _, r := range job.GetRounds() {
		took := time.Duration(r.GetFinishedUnixMs()-r.GetStartedUnixMs()) * time.Millisecond
		table.Row(strconv.Itoa(int(r.GetRound())), r.GetPhase(), strconv.FormatUint(r.GetLeaves(), 10),
			terminal.Elapsed(took))
	}
	table.Write(a.out)
}

func clusterStatus(ctx context.Context, a *app, c *client.Cluster) error {
	res, err := c.Services.Status(ctx, connect.NewRequest(&gramv1.StatusRequest{}))
	if err != nil {
		return c.Explain(err)
	}
	s := res.Msg
	if a.flags.output == "json" {
		return a.printJSON(show.OfCluster(s))
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
	table.Row("speculative copies", copiesText(s.GetSpeculativeCopies()))
	table.Row("states", checkpointText(s))
	table.Row("clock", show.LeaderClock(s.GetClock()))
	table.Row("on disk", fmt.Sprintf("%s log, %s snapshots", show.Size(int64(s.GetRaftLogBytes())),
		show.Size(int64(s.GetRaftSnapshotBytes()))))
	if at := s.GetSchedulesHeldUnixMs(); at != 0 {
		table.Row("schedules", "held since the cluster was restored as of "+show.Clock(at)+"; `gram schedule release`")
	}
	table.Write(a.out)
	printWorkers(a, s.GetWorkers())
	return nil
}

// printWorkers lists the workers, and why some are given no tasks.
func printWorkers(a *app, registered []*gramv1.WorkerStatus) {
	fmt.Fprintln(a.out)
	if len(registered) == 0 {
		fmt.Fprintln(a.out, "no worker is registered")
		return
	}
	var workers terminal.Table
	workers.Row("WORKER", "SLOTS", "TASKS", "MEMORY", "KERNELS", "SEEN")
	for _, w := range registered {
		workers.Row(w.GetName(), strconv.Itoa(int(w.GetSlots())), strconv.Itoa(int(w.GetTasks())),
			show.Size(w.GetMemoryBytes()), w.GetKernels(),
			terminal.Elapsed(a.now().Sub(time.UnixMilli(w.GetLastSeenUnixMs())))+" ago")
	}
	workers.Write(a.out)
	for _, w := range registered {
		if why := w.GetQuarantine(); why != "" {
			fmt.Fprintf(a.out, "\n%s is given no tasks: %s\n", terminal.Clean(w.GetName()), why)
		}
	}
}

// checkpointText says how the members' states compare.
func checkpointText(s *gramv1.StatusResponse) string {
	switch {
	case s.GetCheckpointMismatches() > 0:
		return fmt.Sprintf("DIFFER between members, seen %d times: see the leader's log", s.GetCheckpointMismatches())
	case s.GetCheckpointIndex() == 0:
		return "not compared between members since the leader was elected"
	}
	return fmt.Sprintf("equal on %s at log index %d", strings.Join(s.GetCheckpointAgreed(), ", "),
		s.GetCheckpointIndex())
}
