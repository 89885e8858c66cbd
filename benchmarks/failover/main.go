// Command failover kills the leader of a cluster of three coordinators time and again, and
// measures how long a client that keeps writing waits for its first accepted write.
//
// Run it from the root of the repository, by `make bench-failover`.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gram-compute/gram/benchmarks/pages"
)

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	out := flag.String("out", filepath.Join("benchmarks", "results"),
		"`folder` for the results, in which the machine has its own")
	kills := flag.Int("kills", 50, "how often to kill the leader")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, max(1, *kills)); err != nil {
		fmt.Fprintln(os.Stderr, "bench-failover:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, kills int) (err error) {
	binary, err = filepath.Abs(binary)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "gram-failover-*")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = os.RemoveAll(home)
		} else {
			fmt.Fprintln(os.Stderr, "bench-failover: the members' logs are in", home)
		}
	}()
	p := page{Run: pages.Begin()}
	p.kills, p.writes, err = measure(ctx, binary, home, kills)
	if err != nil {
		return err
	}
	p.End()
	if err := p.Publish(out, "failover.md", p.markdown()); err != nil {
		return err
	}
	met := 0
	for _, g := range p.goals() {
		fmt.Printf("%-4s %6d ms, goal at most %d ms\n", g.name, g.measured.Milliseconds(), g.asked.Milliseconds())
		if g.met() {
			met++
		}
	}
	fmt.Printf("bench-failover: %d goals, %d met\n", len(p.goals()), met)
	return nil
}

// kill is one leader's end.
type kill struct {
	leader string
	took   time.Duration // from the signal to the first accepted write that began after it
	back   time.Duration // from the signal until three members were healthy voters again
}

// measure kills leaders, each when all members are well and at a time that nothing else decides.
func measure(ctx context.Context, binary, home string, kills int) (found []kill, writes int, err error) {
	q, err := start(ctx, binary, home)
	defer q.stop()
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &writer{members: q.members}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(ctx)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	for n := range kills {
		k, err := killLeader(ctx, q, w)
		if err != nil {
			return nil, 0, err
		}
		found = append(found, k)
		fmt.Printf("%2d  %s  %5d ms\n", n+1, k.leader, k.took.Milliseconds())
	}
	return found, w.count(), nil
}

func killLeader(ctx context.Context, q *quorum, w *writer) (k kill, err error) {
	if err := pause(ctx, 500*time.Millisecond+rand.N(time.Second)); err != nil {
		return k, err
	}
	leader, err := q.leader(ctx)
	if err != nil {
		return k, err
	}
	k.leader = leader.ID
	at := leader.kill()
	select {
	case accepted := <-w.after(at):
		k.took = accepted.Sub(at)
	case <-time.After(patience):
		return k, fmt.Errorf("no write was accepted within %v of the end of %s", patience, leader.ID)
	case <-ctx.Done():
		return k, ctx.Err()
	}
	if err := q.begin(leader); err != nil {
		return k, err
	}
	err = q.awaitVotes(ctx, members)
	k.back = time.Since(at)
	return k, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
