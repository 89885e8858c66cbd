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
	// slotsAtOnce is how many schedules' decisions are on their way at a time: one write of the log takes them all.
	slotsAtOnce = 64
)

// slotFirer decides on the slots of schedules.
type slotFirer struct{ *Leader }

// fireSlots proposes the decisions on slots as they come due. Cron is read and the wall
// clock looked at here, on the leader, and nowhere else.
func (c slotFirer) fireSlots(lead *Leadership) {
	calendar := schedule.NewCalendar(command.LoadZone, c.loggedSlotJob)
	for {
		view, changed := c.fsm.View()
		wall := c.clock.Wall()
		if c.mayTime(lead) != nil { // watchClock says so; slots that pass meanwhile are late, and treated so
			if !c.sleepUntil(lead.Ctx, c.clock.Mono()+RetryDelay, true, nil, nil, nil) {
				return
			}
			continue
		}
		agenda := calendar.Due(view, wall)
		for _, problem := range agenda.Problems {
			c.cfg.Logger.Error("a schedule fires no slots", "error", problem)
		}
		nap := napUntil(agenda.Wake, wall)
		if c.lowDisk.Load() { // they make jobs; those that fire when there is room are late, and treated so
			nap, changed = RetryDelay, nil
		} else if !c.proposeSlots(lead, agenda.Commands) {
			nap, changed = RetryDelay, nil
		}
		if !c.sleepUntil(lead.Ctx, c.clock.Mono()+nap, true, changed, nil, nil) {
			return
		}
	}
}

// napUntil is how long to sleep when nothing changes. A wake that has passed is a slot that
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

// proposeSlots puts decisions in the log, those of a schedule in their order. It reports
// whether all were accepted; what was not is decided anew.
func (c slotFirer) proposeSlots(lead *Leadership, commands []*pb.Command) bool {
	var group errgroup.Group
	group.SetLimit(slotsAtOnce)
	for len(commands) > 0 {
		n, id := 1, commands[0].GetFireSlot().GetScheduleId()
		for n < len(commands) && commands[n].GetFireSlot().GetScheduleId() == id {
			n++
		}
		own := commands[:n]
		commands = commands[n:]
		group.Go(func() error { return c.proposeSlotsOf(lead, own) })
	}
	err := group.Wait()
	if err != nil && lead.Ctx.Err() == nil {
		c.cfg.Logger.Warn("slots not decided; they will be decided anew", "first", err)
	}
	return err == nil
}

// proposeSlotsOf proposes the decisions of one schedule until one is not accepted: those
// after it build on it.
func (c slotFirer) proposeSlotsOf(lead *Leadership, commands []*pb.Command) error {
	for _, cmd := range commands {
		if lead.Ctx.Err() != nil {
			return outcome.ErrNotLeader
		}
		reply, err := c.log.Propose(lead.Ctx, cmd)
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		if err != nil {
			return fmt.Errorf("schedule %s, slot %s: %w", cmd.GetFireSlot().GetScheduleId(),
				utc(cmd.GetFireSlot().GetSlotUnixMs()).Format(time.RFC3339), err)
		}
		c.logSlot(cmd.GetFireSlot(), reply)
	}
	return nil
}

func (c slotFirer) logSlot(fire *pb.FireSlot, reply state.Reply) {
	log := c.cfg.Logger.With("schedule", fire.GetScheduleId(), "slot", utc(fire.GetSlotUnixMs()))
	recent := reply.Schedule.Recent
	if last := recent[len(recent)-1]; last.JobID != "" {
		c.meters.Slots.WithLabelValues("fired").Inc()
		c.meters.SlotDelay.Observe(max(0, c.clock.Wall().Sub(utc(fire.GetSlotUnixMs())).Seconds()))
		log.Info("slot fired", "job", last.JobID)
	} else {
		c.meters.Slots.WithLabelValues(state.SkipName(last.Skip)).Add(float64(last.Slots))
		log.Info("slots skipped", "slots", last.Slots, "reason", last.Skip.String())
	}
}

func utc(unixMs int64) time.Time { return time.UnixMilli(unixMs).UTC() }

// loggedSlotJob says why a slot is skipped as invalid.
func (c slotFirer) loggedSlotJob(sched *state.Schedule, at time.Time) (*pb.SubmitJob, error) {
	view, _ := c.fsm.View()
	job, err := c.commands.Slot(view, sched, at)
	if err != nil {
		c.cfg.Logger.Error("no valid job for a slot", "schedule", sched.ID(), "slot", at.UTC(), "error", err)
	}
	return job, err
}
