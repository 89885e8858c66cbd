package coordinator

import (
	"errors"
	"fmt"

	"github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/hashicorp/raft"
)

// What a probe is told. Strangers may ask, so it names no addresses and no paths.
var (
	errFailed   = errors.New("this coordinator has failed and is about to end; its log says why")
	errStarting = errors.New("starting: the log is not applied yet")
	errNoLeader = errors.New("no leader is known")
)

// Unhealthy says why this process should be started anew; nil: it should not.
func (c *Coordinator) Unhealthy() error {
	if c.broken.Load() {
		return errFailed
	}
	return nil
}

// NotReady says why callers should turn to another member; nil: they need not.
func (c *Coordinator) NotReady() error {
	switch {
	case c.broken.Load():
		return errFailed
	case c.leaving.Load():
		return outcome.ErrShutdown
	case !c.hasBegun():
		return errStarting
	}
	if v := c.verdict(); v.Doubt == clock.Disagrees && c.hasOthers() {
		return fmt.Errorf("this member's clock is not trusted: %s", clockText(v))
	}
	if leads, _, _ := c.WhoLeads(); leads {
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
func (c *Coordinator) Note() string {
	if v := c.verdict(); !v.Trusted() {
		return "the clock is not trusted: " + clockText(v) + "\n"
	}
	return ""
}

// hasOthers reports whether the cluster has other members.
func (c *Coordinator) hasOthers() bool {
	servers, _, err := c.member.Servers()
	return err == nil && len(servers) > 1
}

// hasBegun reports whether calls are answered.
func (c *Coordinator) hasBegun() bool {
	select {
	case <-c.begun:
		return true
	default:
		return false
	}
}
