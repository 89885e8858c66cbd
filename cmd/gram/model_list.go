package main

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

// modelFilter chooses models; "" is any.
type modelFilter struct{ kind, name string }

func modelListCommand(a *app) *cobra.Command {
	var filter modelFilter
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models of finished jobs, newest job first",
		Example: `  gram model list
  gram model list --kind NaiveBayes --name glosses
  gram model list -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return &exit.Failure{Code: exit.Usage, What: "--limit is at least 1"}
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			models, more, err := models(cmd.Context(), c, limit, filter)
			if err != nil {
				return err
			}
			if more {
				a.note("gram: there are more; --limit %d shows twice as many", 2*limit)
			}
			return printModels(a, models)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "show at most this `many`")
	cmd.Flags().StringVar(&filter.kind, "kind", "", "only models of this `kind`, such as KMeans")
	cmd.Flags().StringVar(&filter.name, "name", "", "only models of jobs whose spec has this `name`")
	return cmd
}

// listedModel is the model of a job that has succeeded.
type listedModel struct {
	job  *gramv1.Job
	file *gramv1.OutputFile
}

// models turns the pages of all jobs until there are limit models; more tells that there is another.
func models(ctx context.Context, c *client.Cluster, limit int, filter modelFilter) (models []listedModel, more bool,
	err error) {
	err = c.EachJob(ctx, func(job *gramv1.Job) bool {
		file, ok := filter.model(job)
		switch {
		case !ok:
		case len(models) == limit:
			more = true
		default:
			models = append(models, listedModel{job, file})
		}
		return !more
	})
	return models, more, err
}

// model returns the model of a job that the filter lets through. That of a prediction is a list of its parts.
func (f modelFilter) model(job *gramv1.Job) (*gramv1.OutputFile, bool) {
	if job.GetState() != gramv1.JobState_JOB_STATE_SUCCEEDED || job.GetKind() == predict.KindName ||
		f.kind != "" && job.GetKind() != f.kind || f.name != "" && job.GetName() != f.name {
		return nil, false
	}
	file, err := modelOf(job)
	return file, err == nil
}

// listedView is a model as `model list -o json` prints it.
type listedView struct {
	Job      string `json:"job"`
	Name     string `json:"name,omitempty"`
	Kind     string `json:"kind"`
	Finished string `json:"finished"`
	Schedule string `json:"schedule,omitempty"`
	Tick     string `json:"tick,omitempty"`
	URI      string `json:"uri"`
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
}

func printModels(a *app, models []listedModel) error {
	if a.flags.output == "json" {
		views := []listedView{}
		for _, m := range models {
			views = append(views, listedView{m.job.GetId(), m.job.GetName(), m.job.GetKind(),
				show.Timestamp(m.job.GetFinishedUnixMs()),
				m.job.GetScheduleId(), show.Timestamp(m.job.GetTickUnixMs()), m.file.GetUri(),
				hex.EncodeToString(m.file.GetSha256()), m.file.GetSize()})
		}
		return a.printJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			Models        []listedView `json:"models"`
		}{show.SchemaVersion, views})
	}
	var table terminal.Table
	table.Row("JOB", "KIND", "FINISHED", "SIZE", "SHA-256")
	for _, m := range models {
		digest := hex.EncodeToString(m.file.GetSha256())
		table.Row(m.job.GetId(), m.job.GetKind(),
			terminal.Elapsed(a.now().Sub(time.UnixMilli(m.job.GetFinishedUnixMs())))+" ago",
			show.Size(m.file.GetSize()), digest[:min(12, len(digest))])
	}
	table.Write(a.out)
	return nil
}
