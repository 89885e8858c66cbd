package main

import (
	"context"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
)

// decide makes one call about schedules, again and again while the cluster is not reachable:
// every one of them may be repeated.
func decide(ctx context.Context, a *app, c *client.Cluster, call func(context.Context) error) error {
	l := a.link()
	err := l.Keep(ctx, func(ctx context.Context) error {
		if err := call(ctx); err != nil {
			return explainSchedule(c, err)
		}
		l.Up()
		return nil
	})
	return err
}

// explainSchedule is explain with hints that speak of schedules.
func explainSchedule(c *client.Cluster, err error) error {
	f := exit.OfCall(c.Addr, err)
	if f.Code == exit.Conflict {
		f.Hint = "With --replace create changes it; another --id makes another."
	}
	return f
}
