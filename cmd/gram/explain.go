package main

import (
	"fmt"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// explainView is why a job is where it is.
type explainView struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	State         string `json:"state"`
	Reason        string `json:"reason"`

	ETA *show.ETA `json:"eta,omitempty"`
}

func explainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain JOB",
		Short: "Say why a job waits, when its round may end, or how it ended",
		Example: `  gram explain glosses-k3f9p2
  gram explain glosses-k3f9p2 -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			job, err := c.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			view := explainView{show.SchemaVersion, job.GetId(), show.StateName(job.GetState()), reasonOf(job),
				show.OfETA(job.GetEta())}
			if a.flags.output == "json" {
				return a.printJSON(view)
			}
			fmt.Fprintf(a.out, "%s %s: %s\n", view.ID, inState(job.GetState()), protocol.VisibleLines(view.Reason))
			if text := show.ETAText(job.GetEta()); text != "" {
				fmt.Fprintf(a.out, "ETA  %s\n", text)
			}
			return nil
		},
	}
}

// inState is what a job does, or did, after its id.
func inState(state gramv1.JobState) string {
	word := strings.ToLower(show.StateName(state))
	switch state {
	case gramv1.JobState_JOB_STATE_SUCCEEDED, gramv1.JobState_JOB_STATE_FAILED:
		return word
	case gramv1.JobState_JOB_STATE_CANCELLED:
		return "was " + word
	}
	return "is " + word
}

// reasonOf is one sentence on why the job is in its state.
func reasonOf(job *gramv1.Job) string {
	switch {
	case job.GetState() == gramv1.JobState_JOB_STATE_SUCCEEDED:
		text := "all of its rounds are done, and it left " + protocol.Counted(len(job.GetOutputs()), "file")
		if audits := show.AuditText(job.GetAudit()); audits != "" {
			text += "; audits: " + audits
		}
		return text
	case job.GetState() == gramv1.JobState_JOB_STATE_CANCELLED:
		return "it was asked to end"
	case job.GetFailure() != nil:
		return show.FailureText(job.GetFailure())
	case job.GetReason() != "":
		return job.GetReason()
	}
	p := job.GetProgress()
	text := fmt.Sprintf("round %d %s, %d of %d leaves are done, %d tasks are running",
		p.GetRound(), p.GetPhase(), p.GetLeavesDone(), p.GetLeaves(), p.GetTasksLeased())
	if p.GetPhase() == "" {
		text = "a worker lists its input and cuts shards"
	}
	if r := job.GetCounters().GetRemade(); r.GetChanges() > 0 {
		text += "; made again: " + show.RemadeText(r)
	}
	return text
}
