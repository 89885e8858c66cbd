package lead

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gram-compute/gram/coordinator/node"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// measures reads, whenever it is asked, how this member stands in raft and, where it leads, what its
// board and the state hold. Sums over members count nothing twice.
type measures struct{ c *Leader }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Of every member.
var (
	buildInfo     = gauge("gram_build_info", "1; what this member runs.", "version", "go_version")
	isReady       = gauge("gram_ready", "1 when /readyz says ok.")
	raftTerm      = gauge("gram_raft_term", "The term this member knows.")
	raftApplied   = gauge("gram_raft_applied_index", "The last entry of the log that this member has applied.")
	raftCommitted = gauge("gram_raft_commit_index", "The last entry that this member knows to be committed.")
	raftLast      = gauge("gram_raft_last_index", "The last entry in this member's log.")
	raftLeads     = gauge("gram_raft_is_leader", "1 on the member that leads and has taken up its duties.")
	raftHasLeader = gauge("gram_raft_has_leader", "1 when this member knows a leader, or is it.")
	raftContact   = gauge("gram_raft_last_contact_seconds", "Since a follower heard of its leader; 0 on the leader.")
	raftVoters    = gauge("gram_raft_voters", "Members with a vote, as far as this member's log goes.")
	raftNonVoters = gauge("gram_raft_nonvoters", "Members without a vote.")
	auditLines    = gauge("gram_audit_lines_total", "Lines of this member's audit log since its start.")
	auditLeftOut  = gauge("gram_audit_suppressed_total",
		"Refusals that the audit log left out, for there were too many.")
	auditFailed = gauge("gram_audit_failed_total", "Lines that the audit log could not write.")
	diskFree    = gauge("gram_disk_free_bytes",
		"What this user may still write on the data directory's file system.")
	diskSize = gauge("gram_disk_size_bytes", "The size of that file system.")
	diskLow  = gauge("gram_disk_low", "1 while it is nearly full: the member should not lead, and takes no "+
		"new jobs.")
	raftLogBytes = gauge("gram_raft_log_bytes", "The size of the raft log's file.")
	clockTrusted = gauge("gram_clock_trusted", "1 while this member's wall clock is trusted; on a leader, 0 means "+
		"that no tick fires and nothing is retired or swept.")
	clockOffset = gauge("gram_clock_offset_seconds",
		"How far this member's wall clock is ahead of the median of the clocks it knows, or of its time since boot.")
	raftSnapshotAt = gauge("gram_raft_snapshot_index", "The entry of this member's newest snapshot.")
)

// Of the leader alone.
var (
	jobsBy       = gauge("gram_jobs", "Jobs the cluster knows, by state.", "state")
	tasksWaiting = gauge("gram_tasks_waiting", "Tasks that a worker could begin now; leaves count one each.")
	tasksLeased  = gauge("gram_tasks_leased", "Tasks at work, speculative copies among them.")
	workersLive  = gauge("gram_workers", "Workers heard of within the lease TTL.")
	workerSlots  = gauge("gram_worker_slots", "Tasks that the live workers take at a time.")
	slotsWanted  = gauge("gram_worker_slots_wanted",
		"Worker slots that would be busy now if there were enough: what to scale workers on.")
	leasesGranted  = gauge("gram_leases_granted_total", "Leases granted since this leader's election.")
	leasesExpired  = gauge("gram_leases_expired_total", "Leases not renewed in time since this leader's election.")
	committedLease = gauge("gram_committed_leased_total",
		"Tasks leased though committed, since this leader's election; never expected.")
	copiesBy = gauge("gram_speculative_copies_total", "Speculative copies since this leader's election, by outcome.",
		"outcome")
	violations = gauge("gram_determinism_violations",
		"Nodes of known jobs that were committed with two digests; never expected.")
	auditsBy = gauge("gram_audits", "Tasks of known jobs that were drawn to be made a second time, by what "+
		"came of it.", "outcome")
	convicted = gauge("gram_workers_convicted", "Workers that made another result of a task than two others: "+
		"what they had a part in is made again, and their machines are to be looked at.")
	schedulesBy = gauge("gram_schedules", "Schedules, by whether they are paused.", "state")
	storeDenied = gauge("gram_store_denied_jobs",
		"Jobs that wait because the cluster's own store refuses their tasks.")
	logTimeAhead = gauge("gram_log_time_ahead_seconds",
		"How far the log's time is ahead of the leader's; more than 120 comes of a clock that ran ahead.")
	statesDiffer = gauge("gram_state_mismatches_total",
		"Members found at a checkpoint to differ in state from most, since this leader's election; never expected.")
	memberHealthy = gauge("gram_member_healthy", "1 when another member answered the leader's last question.",
		"member")
	memberBehind = gauge("gram_member_behind_entries",
		"Entries another member had not applied when it last answered.", "member")
)

// Describe implements prometheus.Collector.
func (m *measures) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		buildInfo, isReady, raftTerm, raftApplied, raftCommitted, raftLast, raftLeads, raftHasLeader, raftContact,
		raftVoters, raftNonVoters, raftSnapshotAt,
		auditLines, auditLeftOut, auditFailed, diskFree, diskSize, diskLow, raftLogBytes, clockTrusted, clockOffset,
		logTimeAhead,
		jobsBy, tasksWaiting, tasksLeased, workersLive, workerSlots, slotsWanted, leasesGranted, leasesExpired,
		committedLease, copiesBy, violations,
		auditsBy, convicted, schedulesBy, storeDenied, statesDiffer, memberHealthy, memberBehind,
	} {
		out <- d
	}
}

// readings sends what was read.
type readings chan<- prometheus.Metric

func (r readings) gauge(d *prometheus.Desc, value float64, labels ...string) {
	r <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (r readings) counter(d *prometheus.Desc, value uint64, labels ...string) {
	r <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(value), labels...)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Collect implements prometheus.Collector.
func (m *measures) Collect(out chan<- prometheus.Metric) {
	r := readings(out)
	r.gauge(buildInfo, 1, m.c.cfg.Version, runtime.Version())
	r.gauge(isReady, truth(m.c.cfg.Ready() == nil))
	written := m.c.cfg.Trails.Log.Counts()
	r.counter(auditLines, written.Written)
	r.counter(auditLeftOut, written.Suppressed)
	r.counter(auditFailed, written.Failed)
	m.ofDisk(r)
	v := m.c.clock.Verdict()
	r.gauge(clockTrusted, truth(v.Trusted()))
	r.gauge(clockOffset, v.Offset.Seconds())
	lead, err := m.c.Leadership()
	r.gauge(raftLeads, truth(err == nil))
	m.ofRaft(r, err == nil)
	if err == nil {
		m.ofState(r)
		m.ofBoard(r, lead)
		m.ofMembers(r, lead)
	}
}

func (m *measures) ofDisk(r readings) {
	if m.c.cfg.DataDir == "" {
		return
	}
	r.gauge(diskLow, truth(m.c.lowDisk.Load()))
	if s, err := m.c.cfg.DiskSpace(m.c.cfg.DataDir); err == nil {
		r.gauge(diskFree, float64(s.Free))
		r.gauge(diskSize, float64(s.Size))
	}
	if info, err := os.Stat(filepath.Join(m.c.cfg.DataDir, "raft", node.LogFile)); err == nil {
		r.gauge(raftLogBytes, float64(info.Size()))
	}
}

func (m *measures) ofRaft(r readings, leads bool) {
	host := m.c.member.Raft
	r.gauge(raftTerm, float64(host.CurrentTerm()))
	r.gauge(raftApplied, float64(host.AppliedIndex()))
	r.gauge(raftCommitted, float64(host.CommitIndex()))
	r.gauge(raftLast, float64(host.LastIndex()))
	r.gauge(raftSnapshotAt, float64(m.c.member.SnapshotIndex()))
	_, leader := host.LeaderWithID()
	r.gauge(raftHasLeader, truth(leads || leader != ""))
	if last := host.LastContact(); leads || !last.IsZero() {
		r.gauge(raftContact, max(0, untilNow(last, leads).Seconds()))
	}
	servers, _, err := m.c.member.Servers()
	if err != nil {
		return // raft is ending
	}
	voters := 0
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	r.gauge(raftVoters, float64(voters))
	r.gauge(raftNonVoters, float64(len(servers)-voters))
}

func untilNow(last time.Time, leads bool) time.Duration {
	if leads {
		return 0
	}
	return time.Since(last)
}

// stateName is how a job's state is written in labels: "running".
func stateName(s pb.JobState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "JOB_STATE_"))
}

func (m *measures) ofState(r readings) {
	view, _ := m.c.fsm.View()
	r.gauge(logTimeAhead, max(0, float64(view.Now-m.c.clock.Wall().UnixMilli())/1000))
	counts := make(map[pb.JobState]int)
	broken := uint64(0)
	audits := state.AuditCounts{}
	pending := 0
	view.EachJob(func(job *state.Job) bool {
		counts[job.Stage]++
		broken += job.Counters.Violations
		audits.Agreed += job.Audits.Counts.Agreed
		audits.Waived += job.Audits.Counts.Waived
		audits.Disputed += job.Audits.Counts.Disputed
		pending += job.Audits.Pending()
		return true
	})
	for number := range pb.JobState_name {
		if s := pb.JobState(number); s != pb.JobState_JOB_STATE_UNSPECIFIED {
			r.gauge(jobsBy, float64(counts[s]), stateName(s))
		}
	}
	r.gauge(violations, float64(broken))
	r.gauge(auditsBy, float64(audits.Agreed), "agreed")
	r.gauge(auditsBy, float64(audits.Waived), "waived")
	r.gauge(auditsBy, float64(audits.Disputed), "disputed")
	r.gauge(auditsBy, float64(pending), "pending")
	r.gauge(convicted, float64(view.Convicted.Count()))
	paused := 0
	view.EachSchedule(func(s *state.Schedule) bool {
		if s.Paused {
			paused++
		}
		return true
	})
	r.gauge(schedulesBy, float64(paused), "paused")
	r.gauge(schedulesBy, float64(view.ScheduleCount()-paused), "active")
}

func (m *measures) ofBoard(r readings, lead *Leadership) {
	load, counts := m.c.load(lead)
	r.gauge(tasksWaiting, float64(load.Waiting))
	r.gauge(tasksLeased, float64(load.Leased))
	r.gauge(workersLive, float64(load.Workers))
	r.gauge(workerSlots, float64(load.Slots))
	r.gauge(slotsWanted, float64(load.Wanted))
	lead.mu.Lock()
	r.gauge(storeDenied, float64(lead.board.Store.DeniedJobs()))
	lead.mu.Unlock()
	r.counter(leasesGranted, counts.Granted)
	r.counter(leasesExpired, counts.Expired)
	r.counter(committedLease, counts.CommittedLeased)
	r.counter(copiesBy, counts.SpeculativeCopies.Launched, "launched")
	r.counter(copiesBy, counts.SpeculativeCopies.Won, "won")
	r.counter(copiesBy, counts.SpeculativeCopies.Wasted, "wasted")
}

func (c *Leader) load(lead *Leadership) (schedule.Load, schedule.Counts) {
	lead.mu.Lock()
	defer lead.mu.Unlock()
	view, _ := c.fsm.View()
	return lead.board.Load(view, c.clock.Mono()), lead.board.Jobs.Counts
}

func (m *measures) ofMembers(r readings, lead *Leadership) {
	servers, _, err := m.c.member.Servers()
	if err != nil {
		return // raft is ending
	}
	r.counter(statesDiffer, lead.table.differing())
	applied := m.c.member.Raft.AppliedIndex()
	for _, s := range servers {
		if s.ID == raft.ServerID(m.c.cfg.NodeID) {
			continue
		}
		p := lead.peers.get(s.ID)
		r.gauge(memberHealthy, truth(p.healthy), string(s.ID))
		r.gauge(memberBehind, float64(applied-min(applied, p.applied)), string(s.ID))
	}
}
