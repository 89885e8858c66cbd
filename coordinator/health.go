package coordinator

import (
	"errors"
	"fmt"

	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/lead"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// What a probe is told. Strangers may ask, so it names no addresses and no paths.
var (
	errFailed   = errors.New("this coordinator has failed and is about to end; its log says why")
	errStarting = errors.New("starting: the log is not applied yet")
	errNoLeader = errors.New("no leader is known")
)

// health is what a member reports of itself: it implements listen.Health.
type health struct{ *Coordinator }

// Unhealthy says why this process should be started anew; nil: it should not.
func (c health) Unhealthy() error {
	if c.broken.Load() {
		return errFailed
	}
	return nil
}

// NotReady says why callers should turn to another member; nil: they need not.
func (c health) NotReady() error {
	switch {
	case c.broken.Load():
		return errFailed
	case c.leaving.Load():
		return outcome.ErrShutdown
	case !c.hasBegun():
		return errStarting
	}
	if v := c.clock.Verdict(); v.Doubt == clock.Disagrees && c.hasOthers() {
		return fmt.Errorf("this member's clock is not trusted: %s", lead.ClockText(v))
	}
	if leads, _, _ := c.leads.WhoLeads(); leads {
		return nil
	}
	switch _, leader := c.member.Raft.LeaderWithID(); leader {
	case "":
		return errNoLeader
	case raft.ServerID(c.cfg.NodeID):
		return fmt.Errorf("%w: this member is taking up the lead", errStarting)
	}
	return nil
}

// Note tells of a clock that is not trusted where that is no reason to turn to another member.
func (c health) Note() string {
	if v := c.clock.Verdict(); !v.Trusted() {
		return "the clock is not trusted: " + lead.ClockText(v) + "\n"
	}
	return ""
}

// hasOthers reports whether the cluster has other members.
func (c health) hasOthers() bool {
	servers, _, err := c.member.Servers()
	return err == nil && len(servers) > 1
}

// hasBegun reports whether calls are answered.
func (c health) hasBegun() bool {
	select {
	case <-c.begun:
		return true
	default:
		return false
	}
}
