package coordinator

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/coordinator/gate"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// crowded is a coordinator in memory with 10,000 jobs, 900 of which have not ended, and 1,000 workers.
func crowded(b *testing.B) *Coordinator {
	b.Helper()
	c, err := Start(b.Context(), testConfig(""))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Shutdown(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	for n := range 10_000 {
		id := fmt.Sprint("job-", n)
		_, err := c.services.Jobs.Submit(b.Context(),
			connect.NewRequest(&pb.SubmitRequest{Id: id, SpecJson: testSpec(fmt.Sprint("topics of day ", n))}))
		if err == nil && n < 9_100 {
			_, err = c.services.Jobs.Cancel(b.Context(), connect.NewRequest(&pb.CancelRequest{Id: id}))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for n := range 1000 {
		if _, err := c.services.Workers.Register(b.Context(), connect.NewRequest(&pb.RegisterRequest{
			WorkerId: fmt.Sprint("w", n), Name: fmt.Sprint("w", n), Slots: 4, Kernels: "avx2"})); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// Pages through the gate, without a network.
func BenchmarkPages(b *testing.B) {
	c := crowded(b)
	for _, path := range []string{"/jobs", "/jobs?state=cancelled", "/jobs?name=1&sort=took",
		"/jobs?state=active&sort=name",
		"/cluster"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
				req.AddCookie(&http.Cookie{Name: gate.SiteCookie, Value: c.AdminToken().Reveal()})
				rec := httptest.NewRecorder()
				c.Handler().ServeHTTP(rec, req)
				if rec.Code != http.StatusOK {
					b.Fatal(rec.Code, rec.Body)
				}
			}
		})
	}
}
