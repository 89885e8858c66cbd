package coordinator

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/outcome"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"golang.org/x/sync/errgroup"
)

const (
	// longestNap bounds how long a jump of the wall clock can go unnoticed.
	longestNap = 15 * time.Second
	// slotsAtOnce is how many schedules' decisions are on their way at a time: one write of the log takes them all.
	slotsAtOnce = 64
)

// fireSlots proposes the decisions on slots as they come due. Cron is read and the wall
// clock looked at here, on the leader, and nowhere else.
func (c *Coordinator) fireSlots(lead *leadership) {
	calendar := schedule.NewCalendar(loadZone, c.loggedSlotJob)
	for {
		view, changed := c.fsm.View()
		wall := c.wall()
		if c.mayTime(lead) != nil { // watchClock says so; slots that pass meanwhile are late, and treated so
			if !c.sleepUntil(lead.ctx, c.now()+retryDelay, true, nil, nil, nil) {
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
			nap, changed = retryDelay, nil
		} else if !c.proposeSlots(lead, agenda.Commands) {
			nap, changed = retryDelay, nil
		}
		if !c.sleepUntil(lead.ctx, c.now()+nap, true, changed, nil, nil) {
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
		return retryDelay
	}
	return nap
}

// proposeSlots puts decisions in the log, those of a schedule in their order. It reports
// whether all were accepted; what was not is decided anew.
func (c *Coordinator) proposeSlots(lead *leadership, commands []*pb.Command) bool {
	var group errgroup.Group
	group.SetLimit(slotsAtOnce)
	for len(commands) > 0 {
		n := 1
		for n < len(commands) && commands[n].GetFireSlot().GetScheduleId() == commands[0].GetFireSlot().GetScheduleId() {
			n++
		}
		own := commands[:n]
		commands = commands[n:]
		group.Go(func() error { return c.proposeSlotsOf(lead, own) })
	}
	err := group.Wait()
	if err != nil && lead.ctx.Err() == nil {
		c.cfg.Logger.Warn("slots not decided; they will be decided anew", "first", err)
	}
	return err == nil
}

// proposeSlotsOf proposes the decisions of one schedule until one is not accepted: those
// after it build on it.
func (c *Coordinator) proposeSlotsOf(lead *leadership, commands []*pb.Command) error {
	for _, cmd := range commands {
		if lead.ctx.Err() != nil {
			return outcome.ErrNotLeader
		}
		reply, err := c.propose(lead.ctx, cmd)
		if err == nil && reply.Err != nil {
			err = reply.Err
		}
		if err != nil {
			return fmt.Errorf("schedule %s, slot %s: %w", cmd.GetFireSlot().GetScheduleId(), utc(cmd.GetFireSlot().GetSlotUnixMs()).Format(time.RFC3339), err)
		}
		c.logSlot(cmd.GetFireSlot(), reply)
	}
	return nil
}

func (c *Coordinator) logSlot(fire *pb.FireSlot, reply state.Reply) {
	log := c.cfg.Logger.With("schedule", fire.GetScheduleId(), "slot", utc(fire.GetSlotUnixMs()))
	recent := reply.Schedule.Recent
	if last := recent[len(recent)-1]; last.JobID != "" {
		c.meters.slots.WithLabelValues("fired").Inc()
		c.meters.slotDelay.Observe(max(0, c.wall().Sub(utc(fire.GetSlotUnixMs())).Seconds()))
		log.Info("slot fired", "job", last.JobID)
	} else {
		c.meters.slots.WithLabelValues(skipName(last.Skip)).Add(float64(last.Slots))
		log.Info("slots skipped", "slots", last.Slots, "reason", last.Skip.String())
	}
}

// skipName is how a reason to skip is written in labels: "overlap".
func skipName(reason pb.SkipReason) string {
	return strings.ToLower(strings.TrimPrefix(reason.String(), "SKIP_REASON_"))
}

func utc(unixMs int64) time.Time { return time.UnixMilli(unixMs).UTC() }

// loggedSlotJob says why a slot is skipped as invalid.
func (c *Coordinator) loggedSlotJob(sched *state.Schedule, at time.Time) (*pb.SubmitJob, error) {
	job, err := c.slotJob(sched, at)
	if err != nil {
		c.cfg.Logger.Error("no valid job for a slot", "schedule", sched.ID(), "slot", at.UTC(), "error", err)
	}
	return job, err
}

// slotJob is the job of a schedule's slot, the same wherever it is made.
func (c *Coordinator) slotJob(sched *state.Schedule, at time.Time) (*pb.SubmitJob, error) {
	spec, err := protocol.ParseSpec(sched.Definition.GetJobJson())
	if err != nil {
		return nil, err
	}
	table, err := timetableOf(sched.Definition.GetCron(), sched.Definition.GetTimeZone())
	if err != nil {
		return nil, err
	}
	if spec, err = spec.ForSlot(table.Slot(at)); err != nil {
		return nil, err
	}
	id := sched.SlotJobID(at.UnixMilli())
	view, _ := c.fsm.View()
	job, err := c.jobCommand(view, id, spec)
	if err != nil {
		return nil, err
	}
	job.Id = "" // FireSlot takes none: it follows from the slot
	if size := len(job.GetSpecJson()); size > protocol.MaxSpecBytes {
		return nil, fmt.Errorf("the spec of the slot has %d bytes; at most %d are accepted", size, protocol.MaxSpecBytes)
	}
	return job, nil
}

func timetableOf(cron, zoneName string) (schedule.Timetable, error) {
	zone, err := loadZone(zoneName)
	if err != nil {
		return schedule.Timetable{}, err
	}
	return schedule.ParseCron(cron, zone)
}

// errZone: no such time zone in this machine's table, nor in the program's.
var errZone = errors.New("unknown time zone")

// loadZone reads a zone by its IANA name. "Local" would be another on every machine.
func loadZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%w %q; give an IANA name such as Europe/Berlin, or UTC", errZone, name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w %.64q; give an IANA name such as Europe/Berlin, or UTC", errZone, name)
	}
	return zone, nil
}
