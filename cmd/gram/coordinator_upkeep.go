package main

import (
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

// upkeepFlags say how long a coordinator keeps what nobody needs.
type upkeepFlags struct {
	keep         string
	every, grace time.Duration
}

func (u *upkeepFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&u.keep, "keep-jobs", protocol.Retention(coordinator.DefaultKeepJobs.Milliseconds()).String(),
		"ended jobs, with their objects and models, are kept for this `time` unless somebody names them, or "+
			"forever; run.keep of a spec says else")
	set.DurationVar(&u.every, "sweep-every", coordinator.DefaultSweepEvery,
		"the leader deletes what nobody needs every so much `time`")
	set.DurationVar(&u.grace, "sweep-grace", coordinator.DefaultSweepGrace,
		"and only what nobody has needed for this `time`; a backup that is younger finds all it refers to")
}

func (u *upkeepFlags) fill(cfg *coordinator.Config) error {
	keep, err := protocol.ParseRetention(u.keep)
	if err != nil {
		return &exit.Failure{Code: exit.Usage, What: "--keep-jobs", Why: err}
	}
	if u.every <= 0 || u.grace <= 0 {
		return &exit.Failure{Code: exit.Usage, What: "--sweep-every and --sweep-grace are more than 0"}
	}
	cfg.KeepJobs = time.Duration(keep) * time.Millisecond
	cfg.SweepEvery, cfg.SweepGrace = u.every, u.grace
	return nil
}
