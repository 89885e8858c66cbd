package main

import (
	"errors"

	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func cancelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "cancel ID...",
		Short:   "End jobs; an ended job stays as it is",
		Example: `  gram cancel glosses-k3f9p2`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			var jobs []*gramv1.Job
			var errs []error
			for _, id := range ids {
				job, err := c.Cancel(cmd.Context(), id)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				jobs = append(jobs, job)
			}
			if len(jobs) > 0 {
				errs = append(errs, printEnds(a, jobs))
			}
			return errors.Join(errs...)
		},
	}
}
