package main

import (
	"time"

	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

// retentionFlags say how long a coordinator keeps what nobody needs.
type retentionFlags struct {
	keep         string
	every, grace time.Duration
}

func (r *retentionFlags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&r.keep, "keep-jobs", protocol.Retention(coordinator.DefaultKeepJobs.Milliseconds()).String(),
		"ended jobs, with their objects and models, are kept for this `time` unless somebody names them, or forever; run.keep of a spec says else")
	set.DurationVar(&r.every, "sweep-every", coordinator.DefaultSweepEvery, "the leader deletes what nobody needs every so much `time`")
	set.DurationVar(&r.grace, "sweep-grace", coordinator.DefaultSweepGrace,
		"and only what nobody has needed for this `time`; a backup that is younger finds all it refers to")
}

func (r *retentionFlags) fill(cfg *coordinator.Config) error {
	keep, err := protocol.ParseRetention(r.keep)
	if err != nil {
		return &failure{code: exitUsage, what: "--keep-jobs", why: err}
	}
	if r.every <= 0 || r.grace <= 0 {
		return &failure{code: exitUsage, what: "--sweep-every and --sweep-grace are more than 0"}
	}
	cfg.KeepJobs = time.Duration(keep) * time.Millisecond
	cfg.SweepEvery, cfg.SweepGrace = r.every, r.grace
	return nil
}
