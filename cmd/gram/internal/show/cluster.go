package show

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/gram-compute/gram/protocol/gramv1"
)

// Cluster is the state of a cluster as -o json prints it.
type Cluster struct {
	SchemaVersion   int          `json:"schema_version"`
	ClusterID       string       `json:"cluster_id"`
	Leader          string       `json:"leader"`
	Term            uint64       `json:"term"`
	AppliedIndex    uint64       `json:"applied_index"`
	Version         string       `json:"version"`
	Store           string       `json:"store"`
	JobsActive      uint32       `json:"jobs_active"`
	JobsTotal       uint32       `json:"jobs_total"`
	LeasesGranted   uint64       `json:"leases_granted"`
	LeasesExpired   uint64       `json:"leases_expired"`
	CommittedLeased uint64       `json:"committed_leased"`
	StateSHA256     string       `json:"state_sha256"`
	Workers         []workerView `json:"workers"`

	SpeculativeLaunched uint64 `json:"speculative_copies_launched"`
	SpeculativeWon      uint64 `json:"speculative_copies_won"`
	SpeculativeWasted   uint64 `json:"speculative_copies_wasted"`

	CheckpointIndex      uint64   `json:"checkpoint_index"`
	CheckpointAgreed     []string `json:"checkpoint_agreed"`
	CheckpointMismatches uint64   `json:"checkpoint_mismatches"`
	RestoreEpoch         uint64   `json:"restore_epoch"`
	SchedulesHeldSince   string   `json:"schedules_held_since,omitempty"`
	Sweeps               sweeps   `json:"sweeps"`
	JobsRetired          uint32   `json:"jobs_retired"`
	Aliases              uint32   `json:"aliases"`
	RaftLogBytes         uint64   `json:"raft_log_bytes"`
	RaftSnapshotBytes    uint64   `json:"raft_snapshot_bytes"`
	TasksWaiting         uint32   `json:"tasks_waiting"`
	StoreDeniedJobs      uint32   `json:"store_denied_jobs"`
	StoreDenied          string   `json:"store_denied,omitempty"`
	WorkersConvicted     uint32   `json:"workers_convicted"`

	Clock clockView `json:"clock"`
}

// sweeps is what the leader swept since it was elected.
type sweeps struct {
	Passes      uint64 `json:"passes"`
	Failures    uint64 `json:"failures"`
	JobsRetired uint64 `json:"jobs_retired"`
	Objects     uint64 `json:"objects"`
	Bytes       uint64 `json:"bytes"`
	Uploads     uint64 `json:"uploads"`
	Last        string `json:"last,omitempty"`
}

func viewSweeps(s *gramv1.SweepCounters) sweeps {
	v := sweeps{Passes: s.GetPasses(), Failures: s.GetFailures(), JobsRetired: s.GetJobsRetired(),
		Objects: s.GetObjects(), Bytes: s.GetBytes(), Uploads: s.GetUploads()}
	if s.GetLastUnixMs() != 0 {
		v.Last = Timestamp(s.GetLastUnixMs())
	}
	return v
}

type workerView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Slots    uint32 `json:"slots"`
	Tasks    uint32 `json:"tasks"`
	Kernels  string `json:"kernels"`
	Build    string `json:"build"`
	LastSeen string `json:"last_seen"`
	Memory   int64  `json:"memory_bytes"`

	Quarantine string `json:"quarantine,omitempty"`
}

// OfCluster converts the answer to a status call.
func OfCluster(s *gramv1.StatusResponse) Cluster {
	v := Cluster{
		SchemaVersion: SchemaVersion, ClusterID: s.GetClusterId(), Leader: s.GetLeader(), Term: s.GetTerm(),
		AppliedIndex: s.GetAppliedIndex(), Version: s.GetVersion(), Store: s.GetStoreUri(),
		JobsActive: s.GetJobsActive(), JobsTotal: s.GetJobsTotal(), LeasesGranted: s.GetLeasesGranted(),
		LeasesExpired: s.GetLeasesExpired(), CommittedLeased: s.GetCommittedLeased(),
		StateSHA256: hex.EncodeToString(s.GetStateSha256()), Workers: []workerView{},

		SpeculativeLaunched: s.GetSpeculativeCopies().GetLaunched(), SpeculativeWon: s.GetSpeculativeCopies().GetWon(),
		SpeculativeWasted: s.GetSpeculativeCopies().GetWasted(),

		CheckpointIndex: s.GetCheckpointIndex(), CheckpointAgreed: append([]string{},
			s.GetCheckpointAgreed()...), CheckpointMismatches: s.GetCheckpointMismatches(),
		RestoreEpoch: s.GetRestoreEpoch(), SchedulesHeldSince: Timestamp(s.GetSchedulesHeldUnixMs()),
		Sweeps: viewSweeps(s.GetSweeps()), JobsRetired: s.GetJobsRetired(), Aliases: s.GetAliases(),
		RaftLogBytes: s.GetRaftLogBytes(), RaftSnapshotBytes: s.GetRaftSnapshotBytes(), Clock: viewClock(s.GetClock()),
		TasksWaiting: s.GetTasksWaiting(), StoreDeniedJobs: s.GetStoreDeniedJobs(), StoreDenied: s.GetStoreDenied(),
		WorkersConvicted: s.GetWorkersConvicted(),
	}
	for _, w := range s.GetWorkers() {
		v.Workers = append(v.Workers, workerView{w.GetWorkerId(), w.GetName(), w.GetSlots(), w.GetTasks(),
			w.GetKernels(), w.GetBuild(), Timestamp(w.GetLastSeenUnixMs()), w.GetMemoryBytes(), w.GetQuarantine()})
	}
	return v
}

// clockView is the leader's clock, as the leader judges it.
type clockView struct {
	Trusted    bool   `json:"trusted"`
	Reason     string `json:"reason,omitempty"`
	OffsetMs   int64  `json:"offset_ms"`
	Others     uint32 `json:"others"`
	Now        string `json:"now,omitempty"`
	LogAheadMs int64  `json:"log_ahead_ms"`
}

func viewClock(s *gramv1.ClockStatus) clockView {
	return clockView{s.GetTrusted(), s.GetReason(), s.GetOffsetMs(), s.GetOthers(), Timestamp(s.GetNowUnixMs()),
		s.GetLogAheadMs()}
}

// LeaderClock says how the leader's clock is.
func LeaderClock(s *gramv1.ClockStatus) string {
	text := fmt.Sprintf("trusted, %+.1fs of the median with %d others", float64(s.GetOffsetMs())/1000, s.GetOthers())
	switch {
	case s == nil:
		return "not told: the leader runs an earlier release"
	case !s.GetTrusted():
		text = "NOT TRUSTED: " + s.GetReason()
	case s.GetOthers() == 0:
		text = "trusted; no other clock is known"
	}
	if ahead := Milliseconds(s.GetLogAheadMs()); ahead > 2*time.Minute {
		text += fmt.Sprintf("; the log's time is %s ahead: `gram cluster clock accept` sets it back",
			ahead.Round(time.Second))
	}
	return text
}

// MemberClock is a member's clock in a table.
func MemberClock(s *gramv1.ClockStatus) string {
	switch {
	case s == nil:
		return "-"
	case !s.GetTrusted():
		return "not trusted"
	}
	return strconv.FormatFloat(float64(s.GetOffsetMs())/1000, 'f', 1, 64) + "s"
}

// Member is a coordinator as -o json prints it.
type Member struct {
	ID          string `json:"id"`
	RaftAddress string `json:"raft_address"`
	Role        string `json:"role"` // leader, voter or non-voter
	Healthy     bool   `json:"healthy"`
	Behind      uint64 `json:"behind"`
	Version     string `json:"version"`

	ClockTrusted  bool  `json:"clock_trusted"`
	ClockOffsetMs int64 `json:"clock_offset_ms"`
	DiskLow       bool  `json:"disk_low"`
}

// OfMember converts a member of the cluster.
func OfMember(m *gramv1.Member) Member {
	role := "non-voter"
	switch {
	case m.GetLeader():
		role = "leader"
	case m.GetVoter():
		role = "voter"
	}
	return Member{m.GetId(), m.GetRaftAddress(), role, m.GetHealthy(), m.GetBehind(), m.GetVersion(),
		m.GetClock().GetTrusted(), m.GetClock().GetOffsetMs(), m.GetDiskLow()}
}
