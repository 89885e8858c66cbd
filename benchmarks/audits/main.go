// Command audits measures what audits cost: k-means jobs of 400 leaves without audits and with the default share, in
// turn, with long and with short rounds, on two and on four workers.
//
// Run it from the root of the repository, by `make bench-audits`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gram-compute/gram/benchmarks/pages"
)

func main() {
	binary := flag.String("gram", filepath.Join("bin", "gram"), "the gram `binary`")
	out := flag.String("out", filepath.Join("benchmarks", "results"),
		"`folder` for the results, in which the machine has its own")
	pairs := flag.Int("pairs", 3, "how many pairs of jobs to run of each workload, on two workers and on four")
	seconds := flag.Float64("seconds", 60, "how long a job without audits is to take, roughly")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *binary, *out, max(1, *pairs), *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "bench-audits:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out string, pairs int, seconds float64) (err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gram-bench-audits-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := page{Run: pages.Begin()}
	for number, on := range settings() {
		home := filepath.Join(dir, fmt.Sprint("cluster-", number))
		found, err := runPairs(ctx, binary, home, on, pairs, seconds)
		if err != nil {
			return fmt.Errorf("%s: %w", on, err)
		}
		p.pairs = append(p.pairs, found...)
	}
	p.End()
	if err := p.Publish(out, "audits.md", p.markdown()); err != nil {
		return err
	}
	met := 0
	for _, g := range p.goals() {
		fmt.Printf("%s: %.4f, goal at most %.2f\n", g.setting, g.ratio.Median, mostRatio)
		if g.met() {
			met++
		}
	}
	fmt.Printf("bench-audits: %d goals, %d met\n", len(p.goals()), met)
	return nil
}

// pair is a job without audits, and the same job with the default share of them soon before or after it.
type pair struct {
	setting
	without, audit result
}

func (p pair) ratio() float64 { return p.audit.took.Seconds() / p.without.took.Seconds() }

// runPairs runs pairs of jobs on a cluster of its own. A short job before them warms the cluster up and shows how many
// rounds take the wanted time.
func runPairs(
	ctx context.Context, binary, dir string, on setting, pairs int, seconds float64,
) (found []pair, err error) {
	c, err := start(ctx, binary, dir, on)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.dev.Stop(), os.Remove(c.points)) }()
	const few = 6
	short, err := c.run(ctx, few, 0, "0")
	if err != nil {
		return nil, err
	}
	rounds := min(max(few, int(seconds/short.round())), maxRounds)
	for n := range pairs {
		p := pair{setting: on}
		if err := c.runPair(ctx, &p, rounds, n); err != nil {
			return nil, err
		}
		fmt.Printf("%s, pair %d: %6.2f s without audits, %6.2f s with them, ratio %.4f; "+
			"audits took %.2f%% of the workers' time, the report waited %.2f s\n", on, n+1,
			p.without.took.Seconds(), p.audit.took.Seconds(), p.ratio(), 100*p.audit.share(), p.audit.Audit.Waited)
		found = append(found, p)
	}
	return found, nil
}

// runPair runs the two jobs of pair n, which must have the same model. Which of them is first alternates.
func (c *cluster) runPair(ctx context.Context, p *pair, rounds, n int) (err error) {
	jobs := []struct {
		audit string
		into  *result
	}{{"0", &p.without}, {"0.01", &p.audit}}
	if n%2 == 1 {
		slices.Reverse(jobs)
	}
	for _, j := range jobs {
		if *j.into, err = c.run(ctx, rounds, n+1, j.audit); err != nil {
			return err
		}
	}
	audits, none := p.audit.Audit, p.without.Audit
	if p.audit.Model != p.without.Model || audits.Drawn == 0 || audits.Agreed != audits.Drawn || none.Drawn != 0 {
		return fmt.Errorf("the jobs of a pair did not do the same work: models %s and %s, audits %+v and %+v",
			p.without.Model, p.audit.Model, none, audits)
	}
	return nil
}
