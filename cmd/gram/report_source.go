package main

import (
	"context"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/runreport"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/worker"
)

// printResult prints what a finished job found and where its outputs are. As JSON it is the job alone, so the warnings
// of its report go to stderr.
func printResult(ctx context.Context, a *app, job *gramv1.Job) error {
	var report runreport.Report
	if data, err := objects.ReadOutput(ctx, job, worker.ReportFile); err != nil {
		return err
	} else if report, err = runreport.Parse(data); err != nil {
		return err
	}
	if a.flags.output == "json" {
		for _, w := range report.Warnings {
			a.note("gram: warning: %s", w)
		}
		view := show.OfJob(job)
		view.SchemaVersion = show.SchemaVersion
		return a.printJSON(view)
	}
	took := time.Duration(job.GetFinishedUnixMs()-job.GetSubmittedUnixMs()) * time.Millisecond
	runreport.Print(a.out, report, job.GetId(), took)
	printOutputs(a, job)
	return nil
}

// reportSource is a job, in a cluster or in the store of one, or the folder that a URI names.
type reportSource struct {
	a           *app
	from, store string
}

// read reads a file of a job's report.
func (s reportSource) read(ctx context.Context, name string) ([]byte, error) {
	a, from := s.a, s.from
	if s.store != "" {
		return objects.LeftOutput(ctx, a.storeURI(s.store), from, name)
	}
	if strings.ContainsAny(from, "./") {
		if err := a.mustBeFolder(from); err != nil {
			return nil, err
		}
		return objects.Read(ctx, a.folder(from)+name, objects.MaxReportBytes, "")
	}
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	job, err := c.Find(ctx, from)
	if err != nil {
		return nil, err
	}
	switch job.GetState() {
	case gramv1.JobState_JOB_STATE_FAILED, gramv1.JobState_JOB_STATE_CANCELLED:
		return endedReport(ctx, c, job.GetId(), name)
	}
	if _, err := modelOf(job); err != nil {
		return nil, err // names the reason why there is no report yet
	}
	return objects.ReadOutput(ctx, job, name)
}

// endedReport asks the cluster for the report of a job that did not succeed: it left no outputs.
func endedReport(ctx context.Context, c *client.Cluster, job, name string) ([]byte, error) {
	answer, err := c.Jobs.Report(ctx, connect.NewRequest(&gramv1.ReportRequest{Id: job}))
	if err != nil {
		return nil, err
	}
	if name == worker.PageFile {
		return answer.Msg.GetPage(), nil
	}
	return answer.Msg.GetData(), nil
}
