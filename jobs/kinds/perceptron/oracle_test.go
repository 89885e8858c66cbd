package perceptron

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
)

// serial is Algorithm 3, plain and by argmax, as a loop over Dot and Axpy of the generic set: the weights of each
// class and its bias, two rows for two classes. Scores of sparse rows for more are a sum of columns.
func serial(width, classes, epochs int, order func(epoch int) []example) (w [][]float32, b []float32) {
	ops := kernelops.Generic()
	w, b = make([][]float32, classes), make([]float32, classes)
	for c := range w {
		w[c] = make([]float32, width)
	}
	for epoch := range epochs {
		for _, x := range order(epoch) {
			score, rival := make([]float32, classes), -1
			for c := range w {
				switch {
				case x.index == nil:
					score[c] = ops.Dot(w[c], x.values) + b[c]
				case classes == 2:
					score[c] = ops.SparseDot(x.index, x.values, w[c]) + b[c]
				default:
					for p, j := range x.index {
						ops.Axpy(score[c:c+1], w[c][j:j+1], x.values[p])
					}
					score[c] += b[c]
				}
				if c != x.class && (rival < 0 || score[c] > score[rival]) {
					rival = c
				}
			}
			if score[x.class] > score[rival] {
				continue
			}
			for c, a := range map[int]float32{x.class: 1, rival: -1} {
				if x.index == nil {
					ops.Axpy(w[c], x.values, a)
				} else {
					ops.SparseAxpy(w[c], x.index, x.values, a)
				}
				b[c] += a
			}
		}
	}
	return w, b
}

type example struct {
	index  []int32
	values []float32
	class  int
	draw   uint64
	row    int64
}

// readExamples reads the training records of blocks as the job's features do.
func readExamples(t testing.TB, model jobs.Arrays, train jobs.Choice,
	shards []jobstest.Blocks, each int64) (all [][]example) {
	t.Helper()
	space, err := features.ReadSpace(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, blocks := range shards {
		reader := space.NewReader()
		for block, err := range blocks(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := reader.Read(block, train)
			if err != nil {
				t.Fatal(err)
			}
			for i := range v.Rows {
				e := example{class: int(v.Class[i]), row: v.IDs[i].Offset}
				if space.Sparse {
					index, values := v.Sparse.Row(i)
					e.index, e.values = append([]int32{}, index...), slices.Clone(values)
				} else {
					e.values = slices.Clone(v.Dense.Row(i))
				}
				for int64(len(all)) <= e.row/each {
					all = append(all, nil)
				}
				all[e.row/each] = append(all[e.row/each], e)
			}
		}
	}
	return all
}

// shuffled is the order that the package promises, for blocks within a window.
func shuffled(blocks [][]example, epoch int) (order []example) {
	number := make([]int, len(blocks))
	for i := range number {
		number[i] = i
	}
	key := philox.New(7, "perceptron/blocks")
	slices.SortFunc(number, func(x, y int) int {
		return cmp.Compare(key.Uint64(uint64(epoch), uint64(x)), key.Uint64(uint64(epoch), uint64(y)))
	})
	draws := philox.New(7, fmt.Sprintf("perceptron/records/%d", epoch))
	for _, b := range number {
		some := slices.Clone(blocks[b])
		for i := range some {
			some[i].draw = draws.Uint64(uint64(some[i].row), 0)
		}
		slices.SortFunc(some, func(x, y example) int { return cmp.Compare(x.draw, y.draw) })
		order = append(order, some...)
	}
	return order
}

// checkOracle gives the job blocks of 300 records.
func checkOracle(t *testing.T, params string, records []jobstest.Record, shards int, shuffle bool, ops *kernelops.Set) {
	t.Helper()
	const each = 300
	spec := specOf(inBlocks(params, each))
	spec.Spec.Input.Split.Test = 0.2
	dealt := jobstest.Deal(records, shards)
	result, err := tryRun(t, spec, dealt, ops)
	if err != nil {
		t.Fatal(err)
	}
	m := modelOf(t, result)
	examples := readExamples(t, result.Model, jobs.TrainingRecords(spec)(), jobstest.Shards(dealt, 50), each)
	w, b := serial(m.Width, m.Classes, len(m.epochMistakes), func(epoch int) []example {
		if shuffle {
			return shuffled(examples, epoch)
		}
		return slices.Concat(examples...)
	})
	if m.Rule == Signed {
		w, b = w[1:], b[1:]
	}
	for c := range w {
		if slices.Equal(m.rowOf(m.weights, c), append(w[c], b[c])) {
			continue
		}
		t.Errorf("%s, %d shards, %s: the weights are not those of the loop", params, shards, ops.Name)
	}
}

// The weights equal those of the loop to the bit. From zero, argmax over two rows w and -w makes the mistakes of
// the signed rule, so that the loop serves both.
func TestChainedIsTheSerialLoop(t *testing.T) {
	for name, records := range map[string][]jobstest.Record{"digits": digits(t), "sparse digits": asSparse(digits(t)),
		"even or odd": twoClasses(digits(t)), "glosses": glosses(t)[:3000]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, ops := range kernelops.All() {
				checkOracle(t, `{"epochs": 3, "features": {"scale": "l2"}}`, records, 5, true, ops)
			}
			for _, shards := range []int{1, 3, 8} {
				checkOracle(t, `{"epochs": 3, "shuffle": false, "features": {"scale": "l2"}}`, records, shards, false,
					kernelops.Best())
			}
			checkOracle(t, `{"epochs": 2, "form": "plain", "shuffle": false}`, records, 2, false, kernelops.Best())
		})
	}
}
