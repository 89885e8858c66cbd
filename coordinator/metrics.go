package coordinator

import (
	"context"
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// meters are what this process counts, and the registry that shows it with what is measured when asked.
// Labels have few values, all of them known here or in gate.Routes: nothing that a caller makes up.
type meters struct {
	registry     *prometheus.Registry
	calls        *prometheus.CounterVec
	denied       *prometheus.CounterVec
	commits      prometheus.Histogram
	taskFailures *prometheus.CounterVec
	remade       prometheus.Counter
	slots        *prometheus.CounterVec
	slotDelay    prometheus.Histogram
}

func newMeters(c *Coordinator) *meters {
	m := &meters{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_calls_total", Help: "Calls that this member answered, by procedure and result.",
		}, []string{"procedure", "code"}),
		denied: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_denied_total", Help: "Requests that this member's gate refused.",
		}, []string{"reason"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gram_raft_commit_seconds", Help: "From proposing an entry to its being applied here.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}),
		taskFailures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_task_failures_total", Help: "Tasks that failed, by class of failure.",
		}, []string{"class"}),
		remade: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gram_remade_tasks_total", Help: "Tasks whose committed work was taken back, because it was lost or wrong.",
		}),
		slots: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gram_schedule_slots_total", Help: "Slots of schedules that this leader decided: fired, or why they were skipped.",
		}, []string{"outcome"}),
		slotDelay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gram_schedule_slot_delay_seconds", Help: "From a slot's time to its firing; jitter and waiting for room count.",
			Buckets: []float64{1, 2, 5, 10, 30, 60, 300, 900, 3600, 21600, 86400},
		}),
	}
	m.registry.MustRegister(m.calls, m.denied, m.commits, m.taskFailures, m.remade, m.slots, m.slotDelay,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &measures{c})
	m.showZeros()
	return m
}

// showZeros shows counters before they count: increase() does not see the first of one that appears with it.
func (m *meters) showZeros() {
	for _, reason := range []error{gate.ErrUnauthenticated, gate.ErrForbidden, gate.ErrTooManyCalls} {
		m.denied.WithLabelValues(denial(reason))
	}
	for class := range pb.FailureClass_name {
		m.taskFailures.WithLabelValues(className(pb.FailureClass(class)))
	}
	m.slots.WithLabelValues("fired")
	for reason := range pb.SkipReason_name {
		if r := pb.SkipReason(reason); r != pb.SkipReason_SKIP_REASON_UNSPECIFIED {
			m.slots.WithLabelValues(skipName(r))
		}
	}
}

// handler serves the registry in Prometheus' text format.
func (m *meters) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// denial names the gate's reason.
func denial(err error) string {
	switch {
	case errors.Is(err, gate.ErrForbidden):
		return "forbidden"
	case errors.Is(err, gate.ErrTooManyCalls):
		return "too_many_calls"
	}
	return "unauthenticated"
}

// countCalls is the interceptor that counts what the services answer.
type countCalls struct{ m *meters }

func (i countCalls) count(spec connect.Spec, err error) {
	code := "ok"
	if err != nil {
		code = connect.CodeOf(err).String()
	}
	i.m.calls.WithLabelValues(spec.Procedure, code).Inc()
}

// WrapUnary implements connect.Interceptor.
func (i countCalls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		res, err := next(ctx, req)
		i.count(req.Spec(), err)
		return res, err
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (i countCalls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		err := next(ctx, conn)
		i.count(conn.Spec(), err)
		return err
	}
}

// WrapStreamingClient implements connect.Interceptor: there are no such clients here.
func (i countCalls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}
