package lead

import (
	"maps"
	"sync"
	"time"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report/forecast"
	"google.golang.org/protobuf/proto"
)

// makeETA forecasts when the open round of a job ends, and how many rounds may follow; nil for a job that waits to
// begin, only reports or has ended, and where this member does not lead. It takes some milliseconds, and holds nobody
// up.
func (c Views) makeETA(job *state.Job) *pb.Eta {
	lead, err := c.Leadership()
	if err != nil || job.Ended() || job.Stage == pb.JobState_JOB_STATE_QUEUED || job.Reporting() {
		return nil
	}
	eta := &pb.Eta{}
	eta.RoundsLeft, eta.Bounded = roundsLeft(job, c.cfg.MostRounds)
	lead.mu.Lock()
	open, known := lead.board.Outlook(job, c.clock.Mono())
	lead.mu.Unlock()
	if !known {
		return eta
	}
	ends := open.Ends()
	in := func(p float64) int64 {
		return int64(min(float64(1000*forecast.Quantile(ends, p)), mostMilliseconds)) //lint:checked bounded
	}
	eta.TimesKnown, eta.P50Ms, eta.P90Ms = uint32(len(open.Ended)), max(1, in(0.5)), max(1, in(0.9))
	return eta
}

// An ETA that Watch sends is some seconds old, and every ETA the older the longer it takes to make.
const (
	etaAge  = 2 * time.Second
	etaRest = 400 // times what making it took
)

// recentETAs are the last ETAs of jobs that somebody asked for.
type recentETAs struct {
	mu sync.Mutex
	of map[string]recentETA // by job
}

type recentETA struct {
	round      uint32
	made, took time.Duration
	eta        *pb.Eta
}

// fresh reports whether an ETA may be sent that may have some age.
func (e recentETA) fresh(now, age time.Duration) bool { return now < e.made+max(age, etaRest*e.took) }

// ETA is the ETA of a job: made anew, unless that takes long.
func (c Views) ETA(job *state.Job) *pb.Eta { return c.agedETA(job, 0) }

// RecentETA is the ETA of a job, made for all who watch it.
func (c Views) RecentETA(job *state.Job) *pb.Eta { return c.agedETA(job, etaAge) }

// agedETA is an ETA of at most some age, or one that took long to make: counted from now in steps of some seconds.
func (c Views) agedETA(job *state.Job, age time.Duration) *pb.Eta {
	if job.Ended() || job.Stage == pb.JobState_JOB_STATE_QUEUED || job.Reporting() {
		return nil
	}
	c.etas.mu.Lock()
	defer c.etas.mu.Unlock()
	now := c.clock.Mono()
	last, found := c.etas.of[job.ID]
	if !found || !last.fresh(now, age) || last.round != job.Rounds.Open.Number {
		if c.etas.of == nil {
			c.etas.of = make(map[string]recentETA)
		}
		maps.DeleteFunc(c.etas.of, func(_ string, e recentETA) bool { return !e.fresh(now, etaAge) })
		last = recentETA{round: job.Rounds.Open.Number, made: now, eta: c.makeETA(job)}
		last.took = c.clock.Mono() - now
		c.etas.of[job.ID] = last
	}
	if last.eta.GetTimesKnown() == 0 {
		return last.eta
	}
	eta := proto.CloneOf(last.eta)
	past := (now - last.made).Truncate(etaAge).Milliseconds()
	eta.P50Ms, eta.P90Ms = max(1, eta.P50Ms-past), max(1, eta.P90Ms-past)
	return eta
}

// foresee forecasts how a round ends, without the board, which is told then.
func (c Workers) foresee(lead *Leadership, open forecast.Open, take func(ends []float64)) {
	c.tasks.Go(func() { // one that is too late to begin is for a leader that ends
		ends := open.Ends()
		lead.mu.Lock()
		defer lead.mu.Unlock()
		take(ends)
	})
}

// mostMilliseconds bounds a forecast: a hundred years are as good as never.
const mostMilliseconds = 3e12

// roundsLeft bounds the rounds after the open one. Where rounds began anew, those before them are not told apart.
func roundsLeft(job *state.Job, mostRounds func(protocol.JobSpec, int) int64) (left uint64, bounded bool) {
	open := &job.Rounds.Open
	if mostRounds == nil || open.Number == 0 || job.Counters.Remade.Anew > 0 {
		return 0, false
	}
	spec, err := protocol.ParseSpec(job.SpecJSON)
	if err != nil {
		return 0, false
	}
	shards := open.Leaves() // of the first round
	if first := job.Rounds.Records(); len(first) > 0 && open.Number > 1 {
		shards = first[0].GetLeaves()
	}
	most := mostRounds(spec, int(shards)) //lint:checked the leaves of a round
	if most < int64(open.Number) {
		return 0, false
	}
	return uint64(most) - uint64(open.Number), true
}
