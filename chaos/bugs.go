package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gram-compute/gram/chaos/nemesis"
	"github.com/gram-compute/gram/internal/seeded"
)

// aim is what a run is aimed at: the zero value is everything.
type aim struct {
	kinds     []nemesis.Kind // of faults; none means all
	specs     []string       // names; none means all
	schedules int
	snapshots int           // log entries between two
	bound     time.Duration // I9
	env       []string      // of coordinators and workers
	brief     bool          // no tables
}

// everything is what `make chaos` does.
func everything() aim { return aim{schedules: 2, snapshots: 500, bound: endBound} }

// The kinds that several bugs are sought with.
var (
	crashes = []nemesis.Kind{nemesis.KillLeader, nemesis.KillAll, nemesis.KillFollower}
	losses  = []nemesis.Kind{
		nemesis.StoreKind("403 denied"), nemesis.StoreKind("PUT answered and lost"),
		nemesis.StoreKind("bit flipped in a GET"),
	}
	zombies = []nemesis.Kind{nemesis.PauseWorker, nemesis.CutWorker, nemesis.KillWorker, nemesis.StoreKind("delay")}
)

// bug is one of internal/seeded and what may show it.
type bug struct {
	name    seeded.Bug
	minutes float64 // of one run
	aim
}

// huntBound is I9 with and without a bug; many bugs show by jobs that never end.
const huntBound = 45 * time.Second

// bugs are all of them.
func bugs() []bug {
	list := []bug{
		{seeded.DoubleCommit, 0.7, aim{kinds: zombies}},
		{seeded.LostAck, 0.6, aim{kinds: []nemesis.Kind{nemesis.KillLeader, nemesis.KillAll, nemesis.CutLeader}}},
		{seeded.StaleRead, 0.5, aim{kinds: []nemesis.Kind{nemesis.CutLeader, nemesis.PauseLeader, nemesis.CutMinority,
			nemesis.PauseOther}}},
		{seeded.WallClockLease, 0.5, aim{kinds: []nemesis.Kind{nemesis.ClockBack, nemesis.KillWorker}}},
		{seeded.MapOrder, 0.4, aim{kinds: []nemesis.Kind{nemesis.KillWorker, nemesis.KillFollower}}},
		{seeded.SkippedFsync, 0.6, aim{kinds: crashes}},
		{seeded.EarlySnapshot, 0.6, aim{kinds: append([]nemesis.Kind{nemesis.Replace}, crashes...), snapshots: 60}},
		{seeded.TickByNow, 1.3, aim{kinds: crashes, schedules: 2}},
		{seeded.NoIfMatch, 0.5, aim{kinds: []nemesis.Kind{nemesis.ReplaceInput}, specs: []string{"shifting"}}},
		{seeded.ChangedAsUnwell, 0.5, aim{kinds: []nemesis.Kind{nemesis.ReplaceInput}, specs: []string{"shifting"}}},
		{seeded.NoCentering, 0.4, aim{kinds: []nemesis.Kind{nemesis.KillWorker}, specs: []string{"kernels"}}},
		{seeded.LostObjectFails, 0.6, aim{kinds: losses}},
		{seeded.NoAudit, 0.6, aim{kinds: []nemesis.Kind{nemesis.LyingWorker}}},
		{seeded.ClockTrusted, 0.9, aim{kinds: []nemesis.Kind{nemesis.ClockMonth}, schedules: 1}},
	}
	for i := range list {
		list[i].brief, list[i].bound = true, huntBound
		if list[i].snapshots == 0 {
			list[i].snapshots = 500
		}
	}
	return list
}

// control is a run of the same binary with faults of all those kinds and no bug, which must find none.
func control() bug {
	c := bug{"none", 1, aim{brief: true, bound: huntBound, snapshots: 60}}
	for _, b := range bugs() {
		c.kinds = append(c.kinds, b.kinds...)
	}
	return c
}

// caught is how a bug came to light.
type caught struct {
	bug    string
	runs   int
	took   time.Duration
	by     string // the invariant; "" when nothing did
	what   string
	failed error
}

// catch runs with a bug until it is caught, a run fails, or the time is up.
func catch(ctx context.Context, s settings, b bug) caught {
	c := caught{bug: string(b.name)}
	began := time.Now()
	for c.runs == 0 || c.by == "" && time.Since(began) < s.limit && ctx.Err() == nil {
		c.runs++
		run := s
		run.minutes, run.aim = b.minutes, b.aim
		run.seed = s.seed + uint64(c.runs)
		run.folder = filepath.Join(s.folder, fmt.Sprintf("%s-%d", b.name, c.runs))
		fmt.Printf("\n%s, run %d\n", b.name, c.runs)
		run.faults = true // as every build with seeded bugs
		run.env = append(run.env[:len(run.env):len(run.env)], "GRAM_SEEDED_BUG="+string(b.name))
		o, err := once(ctx, run)
		if err != nil {
			c.failed = err
			fmt.Println(err)
			break
		}
		for _, r := range o.results {
			if r.Err != nil {
				c.failed = fmt.Errorf("%s: %w", r.ID, r.Err)
			}
			if len(r.Found) > 0 {
				c.by, c.what = strings.TrimSpace(c.by+" "+r.ID), r.Found[0]
			}
		}
	}
	c.took = time.Since(began)
	return c
}

// hunt seeks every bug that is asked for, after a run without any. It reports whether all is as it should be.
func hunt(ctx context.Context, s settings) (bool, error) {
	if s.folder == "" {
		dir, err := os.MkdirTemp("", "gram-bugs-*")
		if err != nil {
			return false, err
		}
		s.folder = dir
	}
	w := &printer{to: os.Stdout}
	calm := s
	calm.limit = 0 // once
	first := catch(ctx, calm, control())
	well := first.by == "" && first.failed == nil
	all := []caught{first}
	for _, b := range bugs() {
		if s.bug != "all" && s.bug != string(b.name) {
			continue
		}
		c := catch(ctx, s, b)
		well = well && c.by != ""
		all = append(all, c)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if len(all) == 1 {
		return false, fmt.Errorf("no bug is called %q", s.bug)
	}
	showBugs(w.to, all)
	if well {
		return true, os.RemoveAll(s.folder)
	}
	w.line("\neverything is kept in %s", s.folder)
	return false, nil
}

// showBugs is the table of a hunt, for 80 columns.
func showBugs(to io.Writer, all []caught) {
	w := &printer{to: to}
	w.line("\n%-22s %4s %6s  %-14s %s", "BUG", "RUNS", "TOOK", "CAUGHT BY", "FIRST SIGN")
	for _, c := range all {
		by, what := c.by, c.what
		if by == "" {
			by = "nothing"
		}
		if c.failed != nil {
			what = c.failed.Error()
		}
		what, _, _ = strings.Cut(what, "\n")
		w.line("%-22s %4d %5.0fs  %-14s %.28s", c.bug, c.runs, c.took.Seconds(), by, what)
	}
}
