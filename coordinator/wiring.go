package coordinator

import (
	"github.com/google/uuid"
	"github.com/gram-compute/gram/coordinator/api"
	"github.com/gram-compute/gram/coordinator/findings"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/node"
)

// prepareToLead joins what a leader stands on, and the services that ask it. The member has started.
func (c *Coordinator) prepareToLead() {
	if port := c.member.Port; port != nil {
		c.peers = node.NewPeers(port)
	}
	c.leads = lead.New(lead.Config{
		Member: c.member, FSM: c.fsm, Peers: c.peers, Checks: &c.checks, Clock: c.clock, Tasks: c.tasks,
		Trails: c.trails, Meters: c.meters, Commands: c.commands, Logger: c.cfg.Logger,

		NodeID: c.cfg.NodeID, DataDir: c.cfg.DataDir, Version: c.cfg.Version, StoreURI: c.cfg.StoreURI,
		Store: c.cfg.Store, ClusterID: c.clusterID, NewID: c.newClusterID,
		First: []lead.FirstToken{
			{Token: c.tokens.admin, Scope: gate.ScopeAdmin, File: AdminTokenFile},
			{Token: c.tokens.worker, Scope: gate.ScopeWorker, File: WorkerTokenFile},
		},
		Fail: c.fail, Ready: health{c}.NotReady, LeastState: c.cfg.LeastState,
		MostRounds: c.cfg.MostRounds, Ended: c.cfg.Ended,

		Schedule: c.cfg.Schedule, ApplyTimeout: c.cfg.ApplyTimeout, PromoteAfter: c.cfg.PromoteAfter,
		KeepJobs: c.cfg.KeepJobs, SweepEvery: c.cfg.SweepEvery, SweepGrace: c.cfg.SweepGrace,
		CheckpointEvery: c.cfg.CheckpointEvery, CheckpointAfter: c.cfg.checkpointAfter, DiskSpace: c.cfg.diskSpace,
	})
	found, views := findings.New(c.cfg.Store), lead.Views{Leader: c.leads}
	c.services = api.Services{
		Jobs:      &api.Jobs{Cluster: views, Commands: c.commands, Store: c.cfg.Store},
		Compares:  api.NewCompares(views, c.cfg.Store, found),
		Models:    &api.Models{Cluster: views, Store: c.cfg.Store, Findings: found, Logger: c.cfg.Logger},
		Schedules: &api.Schedules{Cluster: views, Commands: c.commands},
		Tokens:    &api.Tokens{Cluster: views},
		Clusters:  &api.Clusters{Cluster: views, Membership: c.leads.Members(), Keeper: c.leads},
		Upkeep:    &api.Upkeep{Keeper: c.leads},
		Workers: &api.Workers{
			Leases: lead.Workers{Leader: c.leads}, LeaseTTL: c.cfg.Schedule.LeaseTTL, StoreURI: c.cfg.StoreURI,
			ClusterID: c.claimed,
		},
	}
}

// newClusterID is the id of a cluster that begins.
func (c *Coordinator) newClusterID() (string, error) {
	if c.cfg.DataDir == "" {
		return uuid.NewString(), nil
	}
	return claimID(c.cfg.DataDir)
}
