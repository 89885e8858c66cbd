package web

import (
	"fmt"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// alert is a state of the cluster that a person should hear of. Rule is the rule of deploy/prometheus/alerts.yaml that
// raises it; empty where no rule does.
type alert struct {
	Rule     string
	Critical bool
	Text     string
}

// Limits of the rules; a test compares them with the rules' own.
const (
	mostOffset   = 5 * time.Second
	mostLogAhead = 2 * time.Minute
	mostBehind   = 10_000
	mostLogBytes = 2 << 30
)

// alertsOf are the alerts that follow from what the cluster tells of itself, the critical ones first. A rule also waits
// until a state has lasted; what is here holds now. Rules about rates, and about members' own disks and logs, need
// Prometheus.
func alertsOf(s *pb.StatusResponse, members []*pb.Member) (alerts []alert) {
	var mild []alert
	critical := func(rule, format string, args ...any) {
		alerts = append(alerts, alert{rule, true, fmt.Sprintf(format, args...)})
	}
	warning := func(rule, format string, args ...any) {
		mild = append(mild, alert{rule, false, fmt.Sprintf(format, args...)})
	}
	if s.GetTasksWaiting() > 0 && len(s.GetWorkers()) == 0 {
		critical("GramTasksWithoutWorkers", "%s to be done, and there is no worker.",
			protocol.Counted(s.GetTasksWaiting(), "task"))
	}
	if n := s.GetStoreDeniedJobs(); n > 0 {
		critical("GramStoreDenied", "The cluster's own store refuses the tasks of %s: %s",
			protocol.Counted(n, "job"), s.GetStoreDenied())
	}
	if n := s.GetWorkersConvicted(); n > 0 {
		critical("GramWorkerConvicted", "%s made another result than two others.", protocol.Counted(n, "worker"))
	}
	if n := s.GetCheckpointMismatches(); n > 0 {
		critical("GramStatesDiffer", "The same log led a coordinator to another state than most: %d times.", n)
	}
	for _, m := range members {
		memberAlerts(m, critical, warning)
	}
	if ahead := time.Duration(s.GetClock().GetLogAheadMs()) * time.Millisecond; ahead > mostLogAhead {
		warning("GramLogTimeAhead", "The log's time is %v ahead, and schedules wait until then.",
			ahead.Round(time.Second))
	}
	if s.GetRaftLogBytes() > mostLogBytes {
		warning("GramRaftLogLarge", "The raft log of %s takes %s.", s.GetLeader(), size(int64(s.GetRaftLogBytes())))
	}
	if n := s.GetCommittedLeased(); n > 0 {
		warning("GramCommittedLeased", "%s %s leased though committed, which is a bug. Please report it.",
			protocol.Counted(n, "task"), protocol.Were(n))
	}
	if n := shunned(s); n > 0 {
		warning("", "%s in quarantine, leased nothing.", protocol.Counted(n, "worker"))
	}
	if at := s.GetSchedulesHeldUnixMs(); at > 0 {
		warning("", "Schedules fire nothing since the cluster was restored, %s.", moment(at))
	}
	return append(alerts, mild...)
}

// memberAlerts are those of one member.
func memberAlerts(m *pb.Member, critical, warning func(rule, format string, args ...any)) {
	clock := m.GetClock()
	offset := time.Duration(clock.GetOffsetMs()) * time.Millisecond
	if !m.GetHealthy() {
		warning("GramMemberUnhealthy", "Coordinator %s does not answer the leader.", m.GetId())
	}
	switch {
	case clock == nil: // not known
	case !clock.GetTrusted():
		critical("GramClockNotTrusted", "Coordinator %s does not trust its clock. %s", m.GetId(), clock.GetReason())
	case offset.Abs() > mostOffset:
		warning("GramClockOff", "The clock of coordinator %s is %v from the others.", m.GetId(), offset)
	}
	if m.GetDiskLow() {
		critical("GramDiskLow", "The disk of coordinator %s is nearly full.", m.GetId())
	}
	if m.GetBehind() > mostBehind {
		warning("GramMemberBehind", "Coordinator %s lacks %d entries of the log.", m.GetId(), m.GetBehind())
	}
}

// shunned counts the workers that are leased nothing.
func shunned(s *pb.StatusResponse) (count int) {
	for _, w := range s.GetWorkers() {
		if w.GetQuarantine() != "" {
			count++
		}
	}
	return count
}
