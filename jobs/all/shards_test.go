package all_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Another shard_bytes, and another cut into files, gives the same model of every kind; another block_records gives
// another one exactly where the table of cases says so. docs/numerics.md, "Shards and the model", promises it.
func TestShardsAndTheModel(t *testing.T) {
	inBlocks := []string{"KernelMatrix", "KernelPerceptron", "LinearModel", "Perceptron", "SupportVectorMachine"}
	indifferent := []string{"SupportVectorMachine"} // takes blocks, of any number, and gives the same model
	bound := map[string]bool{}
	for _, c := range casetest.Of(t, casetest.Shards) {
		for _, data := range c.Shards {
			digest := func(r casetest.Run) string {
				r.Data, r.Ops = data, kernelops.Best()
				return jobstest.Digest(c.Train(t, r))
			}
			want := digest(casetest.Run{Shards: 1, Block: 5})
			same := true
			for _, n := range []int{3, 7, 42} {
				if got := digest(casetest.Run{Shards: n, Block: 5}); got != want {
					t.Errorf("%s over %s: another model by %d shards", c.Name, data.Format, n)
				}
				same = digest(casetest.Run{Shards: n, Files: true, Block: 5}) == want && same
			}
			if same != (c.Named == "") {
				t.Errorf("%s over %s: the same model of other files: %v; the case says %q", c.Name, data.Format, same,
					c.Named)
			}
			if has := slices.Contains(inBlocks, c.Kind); has != c.InBlocks(t) {
				t.Errorf("%s takes block_records: %v", c.Kind, !has)
			} else if !has {
				continue
			}
			other := digest(casetest.Run{Shards: 3, Block: 11}) != want
			if other != c.Blocks {
				t.Errorf("%s over %s: another model by another block_records: %v", c.Name, data.Format, other)
			}
			bound[c.Kind] = bound[c.Kind] || c.Blocks
		}
	}
	for _, kind := range inBlocks {
		if bound[kind] == slices.Contains(indifferent, kind) {
			t.Errorf("kind %s: that block_records matter is shown: %v", kind, bound[kind])
		}
	}
}
