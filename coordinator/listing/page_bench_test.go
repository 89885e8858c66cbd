package listing_test

import (
	"fmt"
	"testing"

	"github.com/gram-compute/gram/coordinator/listing"
	"github.com/gram-compute/gram/coordinator/state"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A page of 10,000 jobs, most of which have ended.
func BenchmarkPage(b *testing.B) {
	s := state.New()
	for n := range 10_000 {
		id := fmt.Sprint("job-", n)
		for _, cmd := range []*pb.Command{submit(id, fmt.Sprint("topics of day ", n), "NaiveBayes"), cancel(id)} {
			cmd.NowUnixMs = int64(n)
			s, _ = state.Apply(s, cmd)
		}
	}
	for name, req := range map[string]*pb.ListRequest{
		"newest":   {},
		"took":     {Order: pb.JobOrder_JOB_ORDER_TOOK},
		"name":     {Order: pb.JobOrder_JOB_ORDER_NAME, Ascending: true},
		"filtered": {Filter: &pb.JobFilter{NameContains: "99"}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				query, err := listing.Parse(req, 20_000)
				if err != nil {
					b.Fatal(err)
				}
				query.Page(s)
			}
		})
	}
}
