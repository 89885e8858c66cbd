package nemesis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gram-compute/gram/chaos/cluster"
	"github.com/gram-compute/gram/chaos/storefault"
)

// Nemesis brings faults about. Its fields are set before Run.
type Nemesis struct {
	Cluster *cluster.Cluster
	Store   *storefault.Proxy
	// ReplaceInput puts another object in the place of the one that some jobs read.
	ReplaceInput func(context.Context) error
	// Say tells people what happens.
	Say func(format string, args ...any)

	mu      sync.Mutex
	tally   map[Kind]Count
	back    time.Duration // how far the clocks were set back
	bombed  []byte        // what bombers send
	objects map[string]bool
}

func (n *Nemesis) noteObject(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.objects == nil {
		n.objects = make(map[string]bool)
	}
	n.objects[key] = true
}

// Damaged are the keys of the objects that were damaged or removed where the store keeps them.
func (n *Nemesis) Damaged() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.objects)
}

// Count is what became of the faults of a kind.
type Count struct {
	Done int
	// NotDone: the machine cannot do it, or there was nobody for it to befall. It is no fault passed.
	NotDone int
	Why     string // the last reason
}

// Tally is what became of all faults so far.
func (n *Nemesis) Tally() map[Kind]Count {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make(map[Kind]Count, len(n.tally))
	for kind, count := range n.tally {
		out[kind] = count
	}
	return out
}

// errNobody: there is nobody that the fault could befall now.
var errNobody = errors.New("there is nobody it could befall")

func (n *Nemesis) count(kind Kind, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.tally == nil {
		n.tally = make(map[Kind]Count)
	}
	c := n.tally[kind]
	if err == nil {
		c.Done++
	} else {
		c.NotDone++
		c.Why = err.Error()
	}
	n.tally[kind] = c
}

// Run works through a plan. All is healed when it returns. An error means that something could
// not be healed, and the run is void.
func (n *Nemesis) Run(ctx context.Context, plan []Round) error {
	for _, round := range plan {
		if !wait(ctx, round.Pause) {
			return nil
		}
		if err := n.round(ctx, round); err != nil {
			return err
		}
	}
	return nil
}

// round brings its faults about and heals each in its time.
func (n *Nemesis) round(ctx context.Context, round Round) error {
	var healing sync.WaitGroup
	failures := make([]error, len(round.Faults))
	for i, fault := range round.Faults {
		heal, err := n.bring(ctx, fault)
		n.count(fault.Kind, err)
		if err != nil {
			n.Say("not done: %v: %v", fault, err)
			continue
		}
		healing.Go(func() {
			wait(ctx, fault.For)
			if err := heal(); err != nil {
				failures[i] = fmt.Errorf("heal %v: %w", fault, err)
			}
		})
	}
	healing.Wait()
	return errors.Join(failures...)
}

// wait waits; false means that ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Exit is a process that ended by itself.
type Exit struct {
	Process string
	Said    string // last
}

// Supervise starts again, as an init system would, what has ended by itself, until ctx ends. It
// returns what that was.
func (n *Nemesis) Supervise(ctx context.Context) (exits []Exit) {
	for wait(ctx, 500*time.Millisecond) {
		for _, p := range n.Cluster.Processes() {
			if !p.EndedByItself() {
				continue
			}
			exit := Exit{p.Name, p.LastWords()}
			n.Say("%s ended by itself: %s", exit.Process, exit.Said)
			exits = append(exits, exit)
			if err := p.Start(); err != nil {
				n.Say("%v", err)
			}
		}
	}
	return exits
}
