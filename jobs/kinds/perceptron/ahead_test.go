package perceptron

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// TestLearnAllIsLearn holds what LearnAll leaves to what Learn leaves of the same records, some of which weigh nothing.
func TestLearnAllIsLearn(t *testing.T) {
	for _, ops := range kernelops.All() {
		for _, sparse := range []bool{false, true} {
			for form := Plain; form <= Unweighted; form++ {
				for _, rule := range []Rule{Signed, ArgMax} {
					setup := Setup{Rule: rule, Form: form, Classes: 2, Width: 37, Sparse: sparse,
						Bias: form != Averaged, ClassWeights: []float32{1, 0.5}, MaxVectors: 1000}
					one, all := NewLearner(setup, ops), NewLearner(setup, ops)
					var records []Record
					for i, row := range uniform(203, 37, "ahead") {
						r := Record{Row: Row{Values: row}, Class: int32(i / 3 % 2), Weight: float32(i%7) / 2}
						if sparse {
							r.Index, r.Values = []int32{0, 3, 5, 36}, row[:4]
						}
						records = append(records, r)
						one.Learn(r.Row, int(r.Class), r.Weight)
					}
					all.LearnAll(records[:5])
					all.LearnAll(records[5:])
					if one.mistakes == 0 || one.mistakes == one.steps {
						t.Errorf("%d mistakes in %d steps", one.mistakes, one.steps)
					}
					same := reflect.DeepEqual([]any{one.weights, one.sums, one.vectors, one.survived, one.steps,
						one.mistakes, one.updates},
						[]any{all.weights, all.sums, all.vectors, all.survived, all.steps, all.mistakes, all.updates})
					if !same {
						t.Errorf("%s, sparse %t, %s, %s: LearnAll leaves something else", ops.Name, sparse, form, rule)
					}
				}
			}
		}
	}
}

// lasting are shards whose blocks last, as those that a worker keeps.
func lasting(shards []jobstest.Blocks) []jobstest.Blocks {
	all := make([]jobstest.Blocks, len(shards))
	for i, blocks := range shards {
		all[i] = func(ctx context.Context) iter.Seq2[*dataset.Block, error] {
			return func(yield func(*dataset.Block, error) bool) {
				for b, err := range blocks(ctx) {
					if err == nil {
						b = &dataset.Block{Lasting: true, IDs: slices.Clone(b.IDs), Labels: slices.Clone(b.Labels),
							Dense: b.Dense, Sparse: b.Sparse}
						for j := range b.Labels {
							b.Labels[j] = bytes.Clone(b.Labels[j])
						}
						b.Dense.Values, b.Sparse.Values = slices.Clone(b.Dense.Values), slices.Clone(b.Sparse.Values)
						b.Sparse.Indptr, b.Sparse.Indices = slices.Clone(b.Sparse.Indptr),
							slices.Clone(b.Sparse.Indices)
					}
					if !yield(b, err) {
						return
					}
				}
			}
		}
	}
	return all
}

// TestLastingBlocks learns the same model from blocks that may be kept as from those that must be copied.
func TestLastingBlocks(t *testing.T) {
	for name, records := range map[string][]jobstest.Record{"dense": digits(t),
		"sparse": asSparse(twoClasses(digits(t)))} {
		for _, over := range []string{overChained, overMixed} {
			spec := specOf(fmt.Sprintf(`{"epochs": 3, "over": %q}`, over))
			var digests []string
			for _, kept := range []bool{false, true} {
				shards := jobstest.Shards(jobstest.Deal(records, 3), 100)
				if kept {
					shards = lasting(shards)
				}
				algorithm, err := New(spec)
				if err != nil {
					t.Fatal(err)
				}
				result, err := jobstest.Run(t.Context(), algorithm, spec, shards, kernelops.Best(), jobstest.Grouping{})
				if err != nil {
					t.Fatal(err)
				}
				digests = append(digests, jobstest.Digest(result.Model))
			}
			if digests[0] != digests[1] {
				t.Errorf("%s, %s: blocks that last give another model", name, over)
			}
		}
	}
}
