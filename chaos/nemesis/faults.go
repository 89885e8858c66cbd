package nemesis

import (
	"context"
	"errors"
	"time"

	"github.com/gram-compute/gram/chaos/cluster"
)

// stopLimit is how long a process may take to end in order.
const stopLimit = 30 * time.Second

// bring does one fault and returns how it is healed.
func (n *Nemesis) bring(ctx context.Context, f Fault) (heal func() error, err error) {
	if f.store != "" {
		n.Say("%v", f)
		n.Store.Set(f.store, f.Rate)
		return func() error { n.Store.Set("", 0); return nil }, nil
	}
	switch f.Kind {
	case KillLeader, KillFollower, KillWorker, KillAll:
		return n.end(ctx, f, func(p *cluster.Process) error { p.Kill(); return nil })
	case StopLeader, StopFollower, StopWorker:
		return n.end(ctx, f, func(p *cluster.Process) error { return p.Terminate(stopLimit) })
	case PauseLeader, PauseOther, PauseWorker, PauseAll:
		return n.pause(ctx, f)
	case Replace:
		return n.replace(ctx, f)
	case ReplaceInput:
		n.Say("%v", f)
		return func() error { return nil }, n.ReplaceInput(ctx)
	case ClockBack:
		return func() error { return nil }, n.clockBack(f)
	case ClockHour, ClockMonth, ClockDecade, ClockBehind:
		return n.moveClock(ctx, f)
	case FlipObject, LoseObject:
		return n.damageObject(ctx, f)
	case FlipLog, TearLog, FlipSnapshot:
		return n.damageLocal(ctx, f)
	case FullScratch:
		return n.fillScratch(f)
	case DiskEIO:
		return n.breakDisk(ctx, f)
	case LyingWorker:
		return n.lie(f)
	case Bomb:
		return n.bomb(ctx, f)
	case Rogue:
		return n.rogue(ctx, f)
	}
	return n.partition(ctx, f)
}

// clockBack sets the wall clocks back by another ten minutes.
func (n *Nemesis) clockBack(f Fault) error {
	if !n.Cluster.Faults {
		return errBuild
	}
	n.Say("%v", f)
	n.back -= 10 * time.Minute
	for _, m := range n.Cluster.Members {
		if err := replaceFile(n.Cluster.ClockFile(m.Host), n.back.String()); err != nil {
			return err
		}
	}
	return nil
}

// victims are the processes that a fault befalls.
func (n *Nemesis) victims(ctx context.Context, f Fault) ([]*cluster.Process, error) {
	switch f.Kind {
	case KillWorker, PauseWorker, StopWorker:
		return []*cluster.Process{n.worker(f).Process}, nil
	case KillAll, PauseAll:
		var all []*cluster.Process
		for _, m := range n.Cluster.Members {
			all = append(all, m.Now().Process)
		}
		return all, nil
	case KillFollower, PauseOther, StopFollower:
		m, err := n.follower(ctx, f)
		if err != nil {
			return nil, err
		}
		return []*cluster.Process{m.Now().Process}, nil
	}
	m, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	return []*cluster.Process{m.Now().Process}, nil
}

func (n *Nemesis) worker(f Fault) *cluster.Worker {
	return n.Cluster.Workers[f.Pick%len(n.Cluster.Workers)]
}

// leader waits a little for there to be one.
func (n *Nemesis) leader(ctx context.Context) (*cluster.Member, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for {
		if m := n.Cluster.Leader(ctx); m != nil {
			return m, nil
		}
		if !wait(ctx, 100*time.Millisecond) {
			return nil, errors.Join(errNobody, errors.New("no member leads"))
		}
	}
}

func (n *Nemesis) follower(ctx context.Context, f Fault) (*cluster.Member, error) {
	leader, err := n.leader(ctx)
	if err != nil {
		return nil, err
	}
	var others []*cluster.Member
	for _, m := range n.Cluster.Members {
		if m != leader && m.Now().Running() {
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return nil, errNobody
	}
	return others[f.Pick%len(others)], nil
}

// end ends the victims; they are started again to heal.
func (n *Nemesis) end(ctx context.Context, f Fault, how func(*cluster.Process) error) (func() error, error) {
	victims, err := n.victims(ctx, f)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, names(victims))
	var failures []error
	for _, p := range victims {
		failures = append(failures, how(p))
	}
	if err := errors.Join(failures...); err != nil {
		n.Say("%v", err) // a process that would not end in order; it is gone now
	}
	return func() error {
		var failures []error
		for _, p := range victims {
			failures = append(failures, p.Start())
		}
		return errors.Join(failures...)
	}, nil
}

func names(victims []*cluster.Process) string {
	text := ""
	for i, p := range victims {
		if i > 0 {
			text += ", "
		}
		text += p.Name
	}
	return text
}

func (n *Nemesis) pause(ctx context.Context, f Fault) (func() error, error) {
	victims, err := n.victims(ctx, f)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, names(victims))
	for _, p := range victims {
		p.Pause()
	}
	return func() error {
		for _, p := range victims {
			p.Resume()
		}
		return nil
	}, nil
}

// replace kills a follower for good; another member joins in its place.
func (n *Nemesis) replace(ctx context.Context, f Fault) (func() error, error) {
	m, err := n.follower(ctx, f)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, m.Now().ID)
	m.Now().Kill()
	return func() error {
		return n.Cluster.Replace(context.WithoutCancel(ctx), m)
	}, nil
}

// partition cuts hosts from each other, as the fault's kind says.
func (n *Nemesis) partition(ctx context.Context, f Fault) (func() error, error) {
	if missing := n.Cluster.Network.Missing; missing != nil {
		return nil, missing
	}
	cuts, err := n.cuts(ctx, f)
	if err != nil {
		return nil, err
	}
	n.Say("%v (%s)", f, cuts[0].from)
	net := n.Cluster.Network
	for i, c := range cuts {
		if err := net.Cut(c.from, c.to...); err != nil {
			for _, done := range cuts[:i] {
				err = errors.Join(err, net.Heal(done.from, done.to...))
			}
			return nil, err
		}
	}
	return func() error {
		var failures []error
		for _, c := range cuts {
			failures = append(failures, net.Heal(c.from, c.to...))
		}
		return errors.Join(failures...)
	}, nil
}

// oneWay is what one host sends to others.
type oneWay struct {
	from string
	to   []string
}

func (n *Nemesis) cuts(ctx context.Context, f Fault) ([]oneWay, error) {
	var peers, workers []string
	for _, w := range n.Cluster.Workers {
		workers = append(workers, w.Host)
	}
	switch f.Kind {
	case CutWorker:
		return both(n.worker(f).Host, append(n.others(""), cluster.Store)), nil
	case CutStore:
		return both(n.worker(f).Host, []string{cluster.Store}), nil
	}
	find := n.leader
	if f.Kind == CutMinority {
		find = func(ctx context.Context) (*cluster.Member, error) { return n.follower(ctx, f) }
	}
	m, err := find(ctx)
	if err != nil {
		return nil, err
	}
	peers = n.others(m.Host)
	everyone := append(append(append([]string(nil), peers...), workers...), cluster.Clients)
	switch f.Kind {
	case CutLeader:
		return both(m.Host, peers), nil
	case CutMinority:
		if f.Pick%2 == 0 {
			return both(m.Host, peers), nil
		}
		return both(m.Host, everyone), nil
	case CutLeaderAll:
		return both(m.Host, append(everyone, cluster.Store)), nil
	case UnheardLeader:
		return []oneWay{{m.Host, peers}}, nil
	case DeafLeader:
		var cuts []oneWay
		for _, peer := range peers {
			cuts = append(cuts, oneWay{peer, []string{m.Host}})
		}
		return cuts, nil
	case CutStoreHalf:
		return both(m.Host, []string{cluster.Store}), nil
	}
	return nil, errors.New("no such fault: " + string(f.Kind))
}

// others are the hosts of the members but one.
func (n *Nemesis) others(but string) []string {
	var hosts []string
	for _, m := range n.Cluster.Members {
		if m.Host != but {
			hosts = append(hosts, m.Host)
		}
	}
	return hosts
}

// both cuts a host from others in either direction.
func both(host string, others []string) []oneWay {
	cuts := []oneWay{{host, others}}
	for _, other := range others {
		cuts = append(cuts, oneWay{other, []string{host}})
	}
	return cuts
}
