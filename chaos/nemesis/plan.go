// Package nemesis plans faults from a seed and brings them about: one or two at a time, then all is
// healed, and a pause.
package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gram-compute/gram/chaos/storefault"
)

// Kind is a kind of fault, as the table at the end of a run names it.
type Kind string

// The kinds of faults. Roles are looked up when the fault is due.
const (
	KillLeader   Kind = "kill -9: leader"
	KillFollower Kind = "kill -9: follower"
	KillWorker   Kind = "kill -9: worker"
	KillAll      Kind = "kill -9: all coordinators"
	PauseLeader  Kind = "SIGSTOP: leader"
	PauseOther   Kind = "SIGSTOP: follower"
	PauseWorker  Kind = "SIGSTOP: worker"
	PauseAll     Kind = "SIGSTOP: all coordinators"
	StopLeader   Kind = "SIGTERM: leader"
	StopFollower Kind = "SIGTERM: follower"
	StopWorker   Kind = "SIGTERM: worker"

	CutLeader     Kind = "partition: leader from coordinators"
	CutLeaderAll  Kind = "partition: leader from everyone"
	CutMinority   Kind = "partition: one follower"
	DeafLeader    Kind = "partition: leader does not hear"
	UnheardLeader Kind = "partition: leader is not heard"
	CutWorker     Kind = "partition: worker"
	CutStore      Kind = "partition: worker from store"
	CutStoreHalf  Kind = "partition: leader from store"

	ClockHour   Kind = "clock: leader one hour ahead"
	ClockMonth  Kind = "clock: leader 31 days ahead"
	ClockDecade Kind = "clock: leader ten years ahead"
	ClockBehind Kind = "clock: leader two days behind"

	FlipObject   Kind = "object: bit flipped at rest"
	LoseObject   Kind = "object: lost at rest"
	FlipLog      Kind = "log: bit flipped"
	TearLog      Kind = "log: tail torn off"
	FlipSnapshot Kind = "snapshot: bit flipped"
	FullScratch  Kind = "disk full: worker's temporary files"

	Bomb        Kind = "gzip bombs, 60 at a time"
	Rogue       Kind = "rogue worker"
	LyingWorker Kind = "lying worker"
	DiskEIO     Kind = "EIO: leader's log"

	Replace      Kind = "member replaced"
	ReplaceInput Kind = "input object replaced"

	// ClockBack is drawn where it is asked for only: it takes a binary built with -tags seededbugs, whose wall
	// clock a file puts wrong. It stays wrong.
	ClockBack Kind = "wall clock set back"
)

// StoreKind is the kind of a fault of the store.
func StoreKind(f storefault.Fault) Kind { return Kind("store: " + string(f)) }

// class is what faults of one time must not share.
type class int

const (
	ofCoordinators class = iota
	ofWorkers
	ofStore
)

// shape is how a kind is drawn.
type shape struct {
	kind        Kind
	class       class
	weight      int
	least, most time.Duration // how long it lasts
	network     bool          // it takes network namespaces
	store       storefault.Fault
	share       [2]float64 // of requests, of a store's fault
}

// shapes are all kinds, in the order they are shown.
func shapes() []shape {
	s := []shape{
		{kind: KillLeader, weight: 6, least: 0, most: 5 * time.Second},
		{kind: KillFollower, weight: 3, least: 0, most: 5 * time.Second},
		{kind: KillAll, weight: 3, least: 0, most: 2 * time.Second},
		{kind: PauseLeader, weight: 5, least: time.Second, most: 40 * time.Second},
		{kind: PauseOther, weight: 2, least: time.Second, most: 40 * time.Second},
		{kind: PauseAll, weight: 2, least: time.Second, most: 10 * time.Second},
		{kind: StopLeader, weight: 3, least: 0, most: 3 * time.Second},
		{kind: StopFollower, weight: 2, least: 0, most: 3 * time.Second},
		{kind: CutLeader, weight: 5, least: 2 * time.Second, most: 20 * time.Second, network: true},
		{kind: CutLeaderAll, weight: 3, least: 2 * time.Second, most: 20 * time.Second, network: true},
		{kind: CutMinority, weight: 3, least: 2 * time.Second, most: 20 * time.Second, network: true},
		{kind: DeafLeader, weight: 3, least: 2 * time.Second, most: 15 * time.Second, network: true},
		{kind: UnheardLeader, weight: 3, least: 2 * time.Second, most: 15 * time.Second, network: true},
		{kind: CutStoreHalf, weight: 1, least: 2 * time.Second, most: 15 * time.Second, network: true},
		{kind: Replace, weight: 2, least: 0, most: 3 * time.Second},
		{kind: KillWorker, class: ofWorkers, weight: 6, least: 0, most: 5 * time.Second},
		{kind: PauseWorker, class: ofWorkers, weight: 6, least: time.Second, most: 40 * time.Second},
		{kind: StopWorker, class: ofWorkers, weight: 2, least: 0, most: 3 * time.Second},
		{kind: CutWorker, class: ofWorkers, weight: 4, least: 2 * time.Second, most: 20 * time.Second, network: true},
		{kind: CutStore, class: ofWorkers, weight: 3, least: 2 * time.Second, most: 20 * time.Second, network: true},
		{kind: ReplaceInput, class: ofWorkers, weight: 4},
		{kind: ClockHour, weight: 1, least: 10 * time.Second, most: 40 * time.Second},
		{kind: ClockMonth, weight: 2, least: 10 * time.Second, most: 40 * time.Second},
		{kind: ClockDecade, weight: 1, least: 10 * time.Second, most: 40 * time.Second},
		{kind: ClockBehind, weight: 1, least: 10 * time.Second, most: 40 * time.Second},
		{kind: FlipLog, weight: 2, least: 0, most: 2 * time.Second},
		{kind: TearLog, weight: 2, least: 0, most: 2 * time.Second},
		{kind: FlipSnapshot, weight: 2, least: 0, most: 2 * time.Second},
		{kind: FullScratch, class: ofWorkers, weight: 1, least: 2 * time.Second, most: 15 * time.Second},
		{kind: Rogue, class: ofWorkers, weight: 3, least: 2 * time.Second, most: 10 * time.Second},
		{kind: Bomb, class: ofWorkers, weight: 2, least: 2 * time.Second, most: 10 * time.Second},
		{kind: LyingWorker, class: ofWorkers, weight: 3, least: 5 * time.Second, most: 15 * time.Second},
		{kind: DiskEIO, weight: 2, least: time.Second, most: 10 * time.Second},
		{kind: FlipObject, class: ofStore, weight: 3},
		{kind: LoseObject, class: ofStore, weight: 3},
	}
	for _, f := range storefault.Faults {
		one := shape{kind: StoreKind(f), class: ofStore, weight: 3, least: 3 * time.Second, most: 12 * time.Second,
			store: f, share: [2]float64{0.05, 0.5}}
		if f == storefault.Outage {
			one.least, one.most, one.share = 2*time.Second, 8*time.Second, [2]float64{1, 1}
		}
		s = append(s, one)
	}
	return s
}

// Kinds are all kinds, in the order they are shown.
func Kinds() []Kind {
	var kinds []Kind
	for _, s := range shapes() {
		kinds = append(kinds, s.kind)
	}
	return kinds
}

// ending are the kinds after which a process has to start again.
var ending = []Kind{KillLeader, KillFollower, KillAll, KillWorker, StopLeader, StopFollower, StopWorker, Replace,
	FlipLog, TearLog, FlipSnapshot, DiskEIO, LyingWorker}

// Lasting are the kinds that all processes live through: what they gather over hours shows.
func Lasting() []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return slices.Contains(ending, k) })
}

// Fault is one fault of a plan.
type Fault struct {
	Kind Kind          `json:"kind"`
	For  time.Duration `json:"for"`             // until it is healed
	Pick int           `json:"pick"`            // which of those it may befall, counted round and round
	Rate float64       `json:"share,omitempty"` // of the requests, of a store's fault

	store storefault.Fault
}

// String names the fault for people.
func (f Fault) String() string {
	text := fmt.Sprintf("%s for %v", f.Kind, f.For.Round(100*time.Millisecond))
	if f.store != "" {
		text += fmt.Sprintf(", %.0f%% of requests", 100*f.Rate)
	}
	return text
}

// Round is what happens at once, after a pause.
type Round struct {
	Pause  time.Duration `json:"pause"`
	Faults []Fault       `json:"faults"`
}

// Last is how long it takes until all is healed.
func (r Round) Last() time.Duration {
	last := r.Pause
	for _, f := range r.Faults {
		last = max(last, r.Pause+f.For)
	}
	return last
}

// Draw plans rounds that fill a time, by the seed alone. Kinds that only names are drawn by weight where there
// are any; else every kind comes once, in a drawn order, before any comes by weight. A plan does not depend on what
// the machine can do: what cannot be done is told.
func Draw(seed uint64, length time.Duration, only ...Kind) []Round {
	rng := rand.New(rand.NewPCG(seed, 0x4e))
	pool := shapes()
	var due []shape
	if len(only) == 0 {
		due = slices.Clone(pool)
		rng.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	} else {
		pool = nil
		for _, s := range append(shapes(), shape{kind: ClockBack, weight: 6}) {
			for _, kind := range only {
				if s.kind == kind {
					pool = append(pool, s)
				}
			}
		}
	}
	var plan []Round
	for used := time.Duration(0); ; {
		r := Round{Pause: time.Second + time.Duration(rng.Int64N(int64(4*time.Second)))}
		first := pick(rng, pool)
		if len(due) > 0 {
			first, due = due[0], due[1:]
		}
		r.Faults = append(r.Faults, first.draw(rng))
		if beside := slices.IndexFunc(due, func(s shape) bool { return s.class != first.class }); beside >= 0 {
			r.Faults = append(r.Faults, due[beside].draw(rng))
			due = slices.Delete(due, beside, beside+1)
		} else if second := pick(rng, pool); second.class != first.class && rng.IntN(2) == 0 {
			r.Faults = append(r.Faults, second.draw(rng))
		}
		if used += r.Last(); used > length {
			return plan
		}
		plan = append(plan, r)
	}
}

func pick(rng *rand.Rand, pool []shape) shape {
	total := 0
	for _, s := range pool {
		total += s.weight
	}
	at := rng.IntN(total)
	for _, s := range pool {
		if at -= s.weight; at < 0 {
			return s
		}
	}
	panic("nemesis: the weights do not add up")
}

// draw makes short faults more often than long ones.
func (s shape) draw(rng *rand.Rand) Fault {
	part := rng.Float64()
	span := float64(s.most - s.least)
	f := Fault{Kind: s.kind, Pick: rng.IntN(1 << 16), store: s.store,
		For: s.least + time.Duration(span*part*part*part)} //lint:checked at most s.most
	if s.store != "" {
		f.Rate = s.share[0] + (s.share[1]-s.share[0])*rng.Float64()
	}
	return f
}
