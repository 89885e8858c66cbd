package main

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// progressOf is a job as the progress display knows it.
func progressOf(job *gramv1.Job) terminal.Progress {
	progress := terminal.Progress{
		Name: job.GetId(), State: show.StateName(job.GetState()), Reason: job.GetReason(),
		Since: time.UnixMilli(job.GetSubmittedUnixMs()),
	}
	if at := job.GetFinishedUnixMs(); at > 0 {
		progress.Until = time.UnixMilli(at)
	}
	if p := job.GetProgress(); p.GetPhase() != "" && !client.Ended(job.GetState()) {
		progress.Done, progress.Total, progress.Leased = p.GetLeavesDone(), p.GetLeaves(), p.GetTasksLeased()
		progress.Step = fmt.Sprintf("round %d %s", p.GetRound(), p.GetPhase())
	}
	return progress
}

// paintState colors the word of a state.
func paintState(p terminal.Palette, state string) string {
	switch state {
	case "Succeeded":
		return p.Good(state)
	case "Failed":
		return p.Bad(state)
	case "Cancelled":
		return p.Notice(state)
	}
	return state
}

// printEnds prints how jobs ended.
func printEnds(a *app, jobs []*gramv1.Job) error {
	if a.flags.output == "json" {
		views := []show.Job{}
		for _, job := range jobs {
			views = append(views, show.OfJob(job))
		}
		return a.printJSON(struct {
			SchemaVersion int        `json:"schema_version"`
			Jobs          []show.Job `json:"jobs"`
		}{show.SchemaVersion, views})
	}
	palette := a.palette(a.out)
	table := terminal.Table{Paint: func(_, column int, text string) string {
		if column == 1 {
			return paintState(palette, text)
		}
		return text
	}}
	for _, job := range jobs {
		took := time.Duration(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs()) * time.Millisecond
		table.Row(job.GetId(), show.StateName(job.GetState()), terminal.Elapsed(took))
	}
	table.Write(a.out)
	return nil
}

// printOutputs gives each of the long values a line of its own, so that they can be copied.
func printOutputs(a *app, job *gramv1.Job) {
	for _, o := range job.GetOutputs() {
		fmt.Fprintf(a.out, "\n%s  %s\n  %s\n  sha256 %s\n", terminal.Clean(o.GetName()), show.Size(o.GetSize()),
			terminal.Clean(o.GetUri()), hex.EncodeToString(o.GetSha256()))
	}
}
