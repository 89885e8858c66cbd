package schedule_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	wallclock "github.com/gram-compute/gram/coordinator/clock"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

var simMinutes = flag.Int("ticks.minutes", 120,
	"minutes that TestEveryTickOnce simulates, of 100 schedules with a tick each minute")

const simSchedules = 100

var simZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}

// ledger is written from the log's accepted entries alone, and judges them: it knows the
// ticks from a scan of every minute.
type ledger struct {
	ticks map[string][]int64 // of a zone, Unix milliseconds
	zones []string           // of schedule i
	next  []int              // the first tick of schedule i not accounted for
	fired []int
}

func newLedger(t *testing.T, from time.Time, minutes int) *ledger {
	l := &ledger{ticks: make(map[string][]int64), next: make([]int, simSchedules), fired: make([]int, simSchedules)}
	for _, name := range simZones {
		shown := time.Time{}
		in := zone(t, name)
		for at := from.Add(-3 * time.Hour); !at.After(from.Add(time.Duration(minutes) * time.Minute)); at = at.Add(
			time.Minute) {
			wall := at.In(in)
			reading := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, time.UTC)
			if !reading.After(shown) {
				continue
			}
			if shown = reading; at.After(from) {
				l.ticks[name] = append(l.ticks[name], at.UnixMilli())
			}
		}
	}
	for i := range simSchedules {
		l.zones = append(l.zones, simZones[i%len(simZones)])
	}
	return l
}

// take accounts for an accepted entry: its ticks must be the next ones, all of them.
func (l *ledger) take(t *testing.T, cmd *pb.FireTick) {
	var i int
	if _, err := fmt.Sscanf(cmd.ScheduleId, "s%d", &i); err != nil {
		t.Fatal(err)
	}
	first, count := cmd.TickUnixMs, 1
	if cmd.Job == nil {
		first, count = cmd.FirstUnixMs, int(cmd.Ticks)
	} else {
		l.fired[i]++
	}
	ticks := l.ticks[l.zones[i]]
	if end := l.next[i] + count; end > len(ticks) || ticks[l.next[i]] != first || ticks[end-1] != cmd.TickUnixMs {
		t.Fatalf("schedule %d, after %d ticks: %v is not what comes next", i, l.next[i], cmd)
	}
	l.next[i] += count
}

// sim is a cluster seen from its log: entries are lost, arrive late and twice, leaders
// change, their clocks differ and jump.
type sim struct {
	*testing.T
	rng      *rand.Rand
	view     state.State
	calendar *schedule.Calendar
	ledger   *ledger
	clock    *wallclock.Clock // of the leader, which has two others to compare with
	now      time.Time        // the right time
	skew     time.Duration    // of the leader's wall clock
	awayTill time.Time
	stale    []*pb.Command // of former leaders, still on their way
	ended    []string      // jobs to end in the next minute
	changes  int
	jumps    int
	handed   int // leads given up for a wrong clock
	refused  int
}

func (s *sim) elect(now time.Time) {
	s.changes++
	s.calendar = schedule.NewCalendar(time.LoadLocation, func(*state.Schedule, time.Time) (*pb.SubmitJob, error) {
		return &pb.SubmitJob{Kind: "K", SpecHash: "h"}, nil
	})
	s.now, s.skew = now, time.Duration(s.rng.IntN(5000)-2500)*time.Millisecond
	s.clock = wallclock.New(func() time.Time { return s.now.Add(s.skew) }, func() time.Duration {
		return s.now.Sub(bootTime)
	})
	s.awayTill = now.Add(time.Duration(s.rng.IntN(90)) * time.Second)
	if s.rng.IntN(20) == 0 {
		s.awayTill = now.Add(time.Duration(s.rng.IntN(30)) * time.Minute)
	}
}

// bootTime is when the machines were started.
var bootTime = time.Date(2026, 10, 9, 0, 0, 0, 0, time.UTC)

// jump moves the leader's wall clock: by up to 20 minutes, by a day or a month, or sets it right.
func (s *sim) jump() {
	s.jumps++
	s.skew = []time.Duration{
		time.Duration(s.rng.IntN(2400)-1200) * time.Second, 31 * 24 * time.Hour, -48 * time.Hour, 0,
	}[s.rng.IntN(4)]
}

// trusted lets the leader compare its clock with the others'; one that is wrong hands the lead over.
func (s *sim) trusted() bool {
	for _, name := range []string{"a", "b"} {
		s.clock.Note(name, s.now.Add(time.Duration(s.rng.IntN(5000)-2500)*time.Millisecond), s.now.Sub(bootTime), false)
	}
	return s.clock.Verdict().Trusted()
}

func (s *sim) apply(cmd *pb.Command, now time.Time) {
	cmd.NowUnixMs = s.clock.Now().UnixMilli()
	next, reply := state.Apply(s.view, cmd)
	s.view = next
	fire := cmd.GetFireTick()
	switch {
	case fire == nil && reply.Err != nil:
		s.Fatal(reply.Err)
	case fire == nil:
	case reply.Err != nil:
		s.refused++
	default:
		s.ledger.take(s.T, fire)
		if early := time.UnixMilli(fire.TickUnixMs).Sub(now); early > wallclock.MaxSkew {
			s.Fatalf("%v is decided %s before its time", fire, early)
		}
		if reply.Created {
			s.ended = append(s.ended, reply.Job.ID)
		}
	}
}

// minute is one minute of the cluster. With change, the leader falls while its decisions
// are on their way: some are committed, some arrive later, some never.
func (s *sim) minute(now time.Time, change bool) {
	s.now = now
	if !s.trusted() {
		s.handed++
		s.elect(now)
		return
	}
	for _, id := range s.ended {
		if _, kept := s.view.Job(id); !kept {
			continue // cancelled by a tick that replaced it, and swept
		}
		s.apply(&pb.Command{Body: &pb.Command_Cancel{Cancel: &pb.CancelJob{Id: id}}}, now)
	}
	s.ended = s.ended[:0]
	if now.Before(s.awayTill) {
		return
	}
	for {
		agenda := s.calendar.Due(s.view, s.clock.Now())
		for _, err := range agenda.Problems {
			s.Fatal(err)
		}
		for _, cmd := range agenda.Commands {
			switch fate := s.rng.IntN(4); {
			case !change || fate == 0:
				s.apply(cmd, now)
			case fate == 1:
				s.apply(cmd, now)
				s.stale = append(s.stale, proto.CloneOf(cmd))
			case fate == 2:
				s.stale = append(s.stale, cmd)
			}
		}
		if change || len(agenda.Commands) == 0 || s.view.ActiveCount() >= state.MaxActiveJobs {
			break
		}
	}
	if change {
		s.elect(now)
		return
	}
	for _, cmd := range s.stale {
		s.apply(cmd, now)
	}
	s.stale = s.stale[:0]
}

// sweep restores the state from a snapshot without the jobs that have ended: how long
// those are kept is not what is tested here.
func (s *sim) sweep() {
	var whole, kept bytes.Buffer
	if err := s.view.Encode(&whole); err != nil {
		s.Fatal(err)
	}
	records, digest := uint64(0), sha256.New()
	for {
		var record pb.SnapshotRecord
		if err := protodelim.UnmarshalFrom(&whole, &record); err == io.EOF {
			break
		} else if err != nil {
			s.Fatal(err)
		}
		if record.GetJob().GetState() == pb.JobState_JOB_STATE_CANCELLED {
			continue
		}
		if t := record.GetTrailer(); t != nil {
			t.Records, t.Sha256 = records, digest.Sum(nil)
		}
		body, err := proto.Marshal(&record)
		if err != nil {
			s.Fatal(err)
		}
		framed := append(binary.AppendUvarint(nil, uint64(len(body))), body...)
		kept.Write(framed)
		digest.Write(framed)
		records++
	}
	restored, err := state.Decode(&kept)
	if err != nil {
		s.Fatal(err)
	}
	s.view = restored
}

// Every tick of 100 schedules is fired or skipped exactly once, whatever leaders and clocks
// do; and where the catch-up policy asks for all, every tick is fired.
func TestEveryTickOnce(t *testing.T) {
	minutes := *simMinutes
	from := time.Date(2026, 10, 10, 0, 0, 0, 0, time.UTC)
	changes, jumps := max(minutes*1150/43200, 1), max(minutes*140/43200, 1)
	s := &sim{T: t, rng: rand.New(rand.NewPCG(1, uint64(minutes))), view: state.New(),
		ledger: newLedger(t, from, minutes)}
	s.elect(from)
	s.skew = 0
	for i := range simSchedules {
		definition := &pb.PutSchedule{
			Id: fmt.Sprint("s", i), JobJson: []byte("{}"), Cron: "* * * * *", TimeZone: s.ledger.zones[i],
			Overlap: pb.ScheduleOverlap_SCHEDULE_OVERLAP_ALLOW, CatchUp: pb.CatchUp_CATCH_UP_ALL, CatchUpMax: 100,
		}
		if i >= 80 {
			definition.CatchUp, definition.CatchUpMax = pb.CatchUp_CATCH_UP_NONE+pb.CatchUp(i%2), 0
			definition.Overlap, definition.JitterMs = pb.ScheduleOverlap(1+i%4), int64(i%3)*40_000
		}
		s.apply(&pb.Command{Body: &pb.Command_PutSchedule{PutSchedule: definition}}, from)
	}
	s.elect(from)
	for m := 1; m <= minutes; m++ {
		now := from.Add(time.Duration(m)*time.Minute + 50*time.Second)
		if s.rng.IntN(minutes) < jumps {
			s.jump()
		}
		s.minute(now, s.rng.IntN(minutes) < changes)
		if m%60 == 0 {
			s.sweep()
		}
	}
	// the last tick's jitter ends by then
	s.finish(from.Add(time.Duration(minutes)*time.Minute + 59_999*time.Millisecond))
	s.check()
}

// finish lets a leader with the right clock catch up.
func (s *sim) finish(now time.Time) {
	s.elect(now)
	s.skew, s.awayTill = 0, time.Time{}
	for range 20 {
		s.minute(now, false)
	}
}

func (s *sim) check() {
	total, fired := 0, 0
	for i, next := range s.ledger.next {
		ticks := len(s.ledger.ticks[s.ledger.zones[i]])
		if total += ticks; next != ticks {
			s.Errorf("schedule %d: %d of %d ticks decided", i, next, ticks)
		}
		sched, _ := s.view.Schedule(fmt.Sprint("s", i))
		if fired += s.ledger.fired[i]; int(sched.Fired) != s.ledger.fired[i] ||
			int(sched.Fired+sched.Skipped) != ticks {
			s.Errorf("schedule %d: the state counts %d fired, %d skipped; the log %d of %d", i, sched.Fired,
				sched.Skipped, s.ledger.fired[i], ticks)
		}
		if i < 80 && s.ledger.fired[i] != ticks {
			s.Errorf("schedule %d: %d of %d ticks fired", i, s.ledger.fired[i], ticks)
		}
	}
	s.Logf("%d ticks, %d fired; %d leaders, %d clock jumps, %d leads handed over, %d entries refused", total, fired,
		s.changes, s.jumps, s.handed, s.refused)
	if wanted := *simMinutes * 1000 / 43200; s.changes < wanted || s.jumps < wanted/10 {
		s.Errorf("fewer than %d leaders or %d jumps", wanted, wanted/10)
	}
	if s.handed == 0 && s.jumps > 3 {
		s.Error("no clock was found wrong: the simulation shows nothing")
	}
	if s.refused == 0 {
		s.Error("no entry was refused: the simulation shows nothing")
	}
}
