package lead

import (
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/command"
	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

const (
	// longestNap bounds how long a jump of the wall clock can go unnoticed.
	longestNap = 15 * time.Second
	// ticksAtOnce is how many schedules' decisions are on their way at a time: one write of the log takes them all.
	ticksAtOnce = 64
)

// tickFirer decides on the ticks of schedules.
type tickFirer struct{ *Leader }

// fireTicks proposes the decisions on ticks as they come due. Cron is read and the wall
// clock looked at here, on the leader, and nowhere else.
func (c tickFirer) fireTicks(lead *Leadership) {
	calendar := schedule.NewCalendar(command.LoadZone, c.loggedTickJob)
	for {
		view, changed := c.fsm.View()
		wall := c.clock.Wall()
		if c.mayTime(lead) != nil { // watchClock says so; ticks that pass meanwhile are late, and treated so
			if !c.sleepUntil(lead.Ctx, c.clock.Mono()+RetryDelay, true, nil, nil, nil) {
				return
			}
			continue
		}
		agenda := calendar.Due(view, wall)
		for _, problem := range agenda.Problems {
			c.cfg.Logger.Error("a schedule fires no ticks", "error", problem)
		}
		nap := napUntil(agenda.Wake, wall)
		if c.lowDisk.Load() { // they make jobs; those that fire when there is room are late, and treated so
			nap, changed = RetryDelay, nil
		} else if !c.proposeTicks(lead, agenda.Commands) {
			nap, changed = RetryDelay, nil
		}
		if !c.sleepUntil(lead.Ctx, c.clock.Mono()+nap, true, changed, nil, nil) {
			return
		}
	}
}

// napUntil is how long to sleep when nothing changes. A wake that has passed is a tick that
// waits for room.
func napUntil(wake, now time.Time) time.Duration {
	nap := longestNap
	if !wake.IsZero() {
		nap = min(nap, wake.Sub(now))
	}
	if nap <= 0 {
		return RetryDelay
	}
	return nap
}

// proposeTicks puts decisions in the log, those of a schedule in their order. It reports
// whether all were accepted; what was not is decided anew.
func (c tickFirer) proposeTicks(lead *Leadership, commands []*pb.Command) bool {
	var group errgroup.Group
	group.SetLimit(ticksAtOnce)
	for len(commands) > 0 {
		n, id := 1, commands[0].GetFireTick().GetScheduleId()
		for n < len(commands) && commands[n].GetFireTick().GetScheduleId() == id {
			n++
		}
		own := commands[:n]
		commands = commands[n:]
		group.Go(func() error { return c.proposeTicksOf(lead, own) })
	}
	err := group.Wait()
	if err != nil && lead.Ctx.Err() == nil {
		c.cfg.Logger.Warn("ticks not decided; they will be decided anew", "first", err)
	}
	return err == nil
}

// proposeTicksOf proposes the decisions of one schedule until one is not accepted: those
// after it build on it.
func (c tickFirer) proposeTicksOf(lead *Leadership, commands []*pb.Command) error {
	for _, cmd := range commands {
		if lead.Ctx.Err() != nil {
			return outcome.ErrNotLeader
		}
		reply, err := c.log.Propose(lead.Ctx, cmd)
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		if err != nil {
			return fmt.Errorf("schedule %s, tick %s: %w", cmd.GetFireTick().GetScheduleId(),
				utc(cmd.GetFireTick().GetTickUnixMs()).Format(time.RFC3339), err)
		}
		c.logTick(cmd.GetFireTick(), reply)
	}
	return nil
}

func (c tickFirer) logTick(fire *pb.FireTick, reply state.Reply) {
	log := c.cfg.Logger.With("schedule", fire.GetScheduleId(), "tick", utc(fire.GetTickUnixMs()))
	recent := reply.Schedule.Recent
	if last := recent[len(recent)-1]; last.JobID != "" {
		c.meters.Ticks.WithLabelValues("fired").Inc()
		c.meters.TickDelay.Observe(max(0, c.clock.Wall().Sub(utc(fire.GetTickUnixMs())).Seconds()))
		log.Info("tick fired", "job", last.JobID)
	} else {
		c.meters.Ticks.WithLabelValues(state.SkipName(last.Skip)).Add(float64(last.Ticks))
		log.Info("ticks skipped", "ticks", last.Ticks, "reason", last.Skip.String())
	}
}

func utc(unixMs int64) time.Time { return time.UnixMilli(unixMs).UTC() }

// loggedTickJob says why a tick is skipped as invalid.
func (c tickFirer) loggedTickJob(sched *state.Schedule, at time.Time) (*pb.SubmitJob, error) {
	view, _ := c.fsm.View()
	job, err := c.commands.Tick(view, sched, at)
	if err != nil {
		c.cfg.Logger.Error("no valid job for a tick", "schedule", sched.ID(), "tick", at.UTC(), "error", err)
	}
	return job, err
}
