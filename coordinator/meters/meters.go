// Package meters counts what a coordinator does, for Prometheus.
package meters

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Meters are what this process counts, and the registry that shows it with what is measured when asked.
// Labels have few values, all of them known here or in gate.Routes: nothing that a caller makes up.
type Meters struct {
	Registry     *prometheus.Registry
	calls        *prometheus.CounterVec
	Denied       *prometheus.CounterVec
	Commits      prometheus.Histogram
	TaskFailures *prometheus.CounterVec
	Remade       prometheus.Counter
	Ticks        *prometheus.CounterVec
	TickDelay    prometheus.Histogram
}

// New returns meters that show 0.
func New() *Meters {
	m := &Meters{
		Registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_calls_total", Help: "Calls that this member answered, by procedure and result.",
		}, []string{"procedure", "code"}),
		Denied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_denied_total", Help: "Requests that this member's gate refused.",
		}, []string{"reason"}),
		Commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gram_raft_commit_seconds", Help: "From proposing an entry to its being applied here.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
		TaskFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_task_failures_total", Help: "Tasks that failed, by class of failure.",
		}, []string{"class"}),
		Remade: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gram_remade_tasks_total", Help: "Tasks whose committed work was taken back, because it was lost " +
				"or wrong.",
		}),
		Ticks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_schedule_ticks_total",
			Help: "Ticks of schedules that this leader decided: fired, or why they were skipped.",
		}, []string{"outcome"}),
		TickDelay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "gram_schedule_tick_delay_seconds",
			Help:    "From a tick's time to its firing; jitter and waiting for room count.",
			Buckets: []float64{1, 2, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400},
		}),
	}
	m.Registry.MustRegister(m.calls, m.Denied, m.Commits, m.TaskFailures, m.Remade, m.Ticks, m.TickDelay,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.showZeros()
	return m
}

// showZeros shows counters before they count: increase() does not see the first of one that appears with it.
func (m *Meters) showZeros() {
	for _, reason := range []error{gate.ErrUnauthenticated, gate.ErrForbidden, gate.ErrUnknownPath,
		gate.ErrTooManyCalls} {
		m.Denied.WithLabelValues(Denial(reason))
	}
	for class := range pb.FailureClass_name {
		m.TaskFailures.WithLabelValues(ClassName(pb.FailureClass(class)))
	}
	m.Ticks.WithLabelValues("fired")
	for reason := range pb.SkipReason_name {
		if r := pb.SkipReason(reason); r != pb.SkipReason_SKIP_REASON_UNSPECIFIED {
			m.Ticks.WithLabelValues(state.SkipName(r))
		}
	}
}

// Handler serves the registry in Prometheus' text format.
func (m *Meters) Handler() http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Denial names the gate's reason.
func Denial(err error) string {
	switch {
	case errors.Is(err, gate.ErrForbidden):
		return "forbidden"
	case errors.Is(err, gate.ErrUnknownPath):
		return "unknown_path"
	case errors.Is(err, gate.ErrTooManyCalls):
		return "too_many_calls"
	}
	return "unauthenticated"
}

// CountCalls is the interceptor that counts what the services answer.
type CountCalls struct{ Meters *Meters }

func (i CountCalls) count(spec connect.Spec, err error) {
	code := "ok"
	if err != nil {
		code = connect.CodeOf(err).String()
	}
	i.Meters.calls.WithLabelValues(spec.Procedure, code).Inc()
}

// WrapUnary implements connect.Interceptor.
func (i CountCalls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		i.count(req.Spec(), err)
		return res, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (i CountCalls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		i.count(conn.Spec(), err)
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor: there are no such clients here.
func (i CountCalls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// ClassName is how a class of failure is written in labels: "task".
func ClassName(class pb.FailureClass) string {
	if _, known := pb.FailureClass_name[int32(class)]; !known {
		return "unknown" // whatever a worker sent
	}
	return strings.ToLower(strings.TrimPrefix(class.String(), "FAILURE_CLASS_"))
}
