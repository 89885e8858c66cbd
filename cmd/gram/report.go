package main

import (
	"context"
	"io"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/runreport"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func reportCommand(a *app) *cobra.Command {
	var page, store string
	cmd := &cobra.Command{
		Use:   "report JOB|URI",
		Short: "Print what a job found or why it failed, or write its page",
		Example: `  gram report digits-k3f9p2
  gram report digits-k3f9p2 --page digits.html
  gram report s3://models/digits-k3f9p2/ -o json
  gram report digits-k3f9p2 --store s3://gram-jobs`,
		Long: `A finished job leaves report.json and report.html beside its model. The page is
one file, with its pictures in it: the distortion of each round, mistakes, the
confusion matrix, centers. Of a job that failed or was cancelled the leader
writes both: why, what to do, and what was done so far. -o json prints
report.json as it is. A word without "." and "/" names a job (an id,
SCHEDULE@latest or @ALIAS), all else the folder of a model. With --store a job,
by its id, is found in the cluster's store, whether or not there is a cluster;
credentials for S3 come from the environment.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from := reportSource{a: a, from: args[0], store: store}
			if page != "" {
				return writePage(cmd.Context(), a, from, page)
			}
			return printReport(cmd.Context(), a, from)
		},
	}
	cmd.Flags().StringVar(&store, "store", "", storeUsage)
	cmd.Flags().StringVar(&page, "page", "", "write the HTML page to this `file`; - is stdout")
	return cmd
}

func writePage(ctx context.Context, a *app, from reportSource, to string) error {
	data, err := from.read(ctx, worker.PageFile)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	if to == "-" {
		return write(a.out)
	}
	to = a.within(to)
	return files.Write(to, write)
}

func printReport(ctx context.Context, a *app, from reportSource) error {
	data, err := from.read(ctx, worker.ReportFile)
	if err != nil {
		return err
	}
	report, err := runreport.Parse(data)
	if err != nil {
		return err
	}
	if a.flags.output == "json" {
		_, err := a.out.Write(append(data, '\n'))
		return err
	}
	runreport.Print(a.out, report, report.Job, time.Duration(report.Seconds*float64(time.Second)))
	return nil
}
