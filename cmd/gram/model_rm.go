package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func modelRemoveCommand(a *app) *cobra.Command {
	return command.AddYes(&cobra.Command{
		Use:   "rm JOB...",
		Short: "Take ended jobs and their models away, now",
		Example: `  gram model rm digits-k3f9p2
  gram model alias rm prod && gram model rm digits-k3f9p2`,
		Long: `The job is not listed any more, and its id stays taken for a month. Its objects
and logs, and its outputs if the spec named no output.uri, are deleted when the
coordinators' --sweep-grace has passed. Refused while the job is active, and
while somebody names it: an alias, a schedule whose latest it is, a job that
needs it or begins from its model. It needs an admin's token. On a terminal it
asks first; elsewhere it needs --yes.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connect()
			if err != nil {
				return err
			}
			if err := a.confirm(cmd, fmt.Sprintf("%s and what it learned go for good", jobWord(args)),
				true); err != nil {
				return err
			}
			var errs []error
			for _, id := range args {
				errs = append(errs, retire(cmd.Context(), a, c, id))
			}
			return errors.Join(errs...)
		},
	})
}

// jobWord names jobs: all of them, for a person who is about to lose them.
func jobWord(ids []string) string {
	if len(ids) == 1 {
		return "job " + ids[0]
	}
	return fmt.Sprintf("%d jobs (%s)", len(ids), strings.Join(ids, ", "))
}

func retire(ctx context.Context, a *app, c *client.Cluster, id string) error {
	res, err := c.Models.Retire(ctx, connect.NewRequest(&gramv1.RetireRequest{Id: id}))
	if connect.CodeOf(err) == connect.CodeFailedPrecondition {
		var refused *connect.Error
		errors.As(err, &refused)
		return &exit.Failure{Code: exit.Conflict, What: refused.Message(), Cause: err}
	}
	if err != nil {
		return c.Explain(err)
	}
	a.note("gram: job %s is retired; its objects are swept when the grace has passed", res.Msg.GetJob().GetId())
	return nil
}
