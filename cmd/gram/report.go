package main

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

func (a *app) reportCommand() *cobra.Command {
	var page, store string
	cmd := &cobra.Command{
		Use:   "report JOB|URI",
		Short: "Print what a finished job found, or write its page",
		Example: `  gram report digits-k3f9p2
  gram report digits-k3f9p2 --page digits.html
  gram report s3://models/digits-k3f9p2/ -o json
  gram report digits-k3f9p2 --store s3://gram-jobs`,
		Long: `A finished job leaves report.json and report.html beside its model. The page is
one file, with its pictures in it: the distortion of each round, mistakes, the
confusion matrix, centers. -o json prints report.json as it is. A word without
"." and "/" names a job (an id, SCHEDULE@latest or @ALIAS), all else the folder
of a model. With --store a job, by its id, is found in the cluster's store,
whether or not there is a cluster; credentials for S3 come from the environment.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from := reportSource{a: a, from: args[0], store: store}
			if page != "" {
				return a.writePage(cmd.Context(), from, page)
			}
			return a.printReport(cmd.Context(), from)
		},
	}
	cmd.Flags().StringVar(&store, "store", "", storeUsage)
	cmd.Flags().StringVar(&page, "page", "", "write the HTML page to this `file`; - is stdout")
	return cmd
}

func (a *app) writePage(ctx context.Context, from reportSource, to string) error {
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
	if !filepath.IsAbs(to) {
		to = filepath.Join(a.dir, to)
	}
	return writeWhole(to, write)
}

func (a *app) printReport(ctx context.Context, from reportSource) error {
	data, err := from.read(ctx, worker.ReportFile)
	if err != nil {
		return err
	}
	report, err := parseReport(data)
	if err != nil {
		return err
	}
	if a.flags.output == "json" {
		_, err := a.out.Write(append(data, '\n'))
		return err
	}
	a.printFound(report, report.Job, time.Duration(report.Seconds*float64(time.Second)))
	return nil
}
