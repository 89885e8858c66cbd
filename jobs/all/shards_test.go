package all_test

import (
	"testing"

	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Another shard_bytes gives the same model exactly where the table of cases says so.
func TestShardsAndTheModel(t *testing.T) {
	for _, c := range casetest.Of(t, casetest.Shards) {
		for _, over := range c.Shards {
			digests := map[string]bool{}
			for _, n := range []int{1, 3, 42} {
				model := c.Train(t, casetest.Run{Data: over.Data, Shards: n, Ops: kernelops.Best()})
				digests[jobstest.Digest(model)] = true
			}
			if same := len(digests) == 1; same != over.Same {
				t.Errorf("%s over %s: %d different models by other shards", c.Name, over.Data.Format, len(digests))
			}
		}
	}
}
