package perceptron

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
)

// Two blocks, one epoch, by hand; "y" is +1. The first learns (1, 0) as y, so that w = (1, 0), b = 1, and (1, 0) as
// n, so that w and b are 0 again. The second learns (1, 0) as y. Both changed the first weight and the bias, none the
// second: the sums of the changes, (1, 0) and 1, are divided by 2.
func TestChangedCountsWhatWasTakenBack(t *testing.T) {
	dense := [][]jobstest.Record{
		jobstest.DenseRecords([][]float32{{1, 0}, {1, 0}}, "y", "n"),
		jobstest.DenseRecords([][]float32{{1, 0}}, "y"),
	}
	sparse := func(label string) jobstest.Record {
		return jobstest.Record{Label: label, Width: 2, Indices: []int32{0, 1}, Values: []float32{1, 0}} // a stored zero
	}
	for name, shards := range map[string][][]jobstest.Record{
		"dense": dense, "sparse": {{sparse("y"), sparse("n")}, {sparse("y")}},
	} {
		for _, form := range []string{"plain", "averaged"} {
			m := modelOf(t, train(t, fmt.Sprintf(`{"over": "mixed", "shuffle": false, "epochs": 1, "form": %q,
				"block_records": 2}`, form),
				shards...))
			if !slices.Equal(m.weights, []float32{0.5, 0, 0.5}) {
				t.Errorf("%s, %s: weights %v", name, form, m.weights)
			}
		}
	}
}

// The same rule over many blocks, three classes, and updates that meet again in most columns, for one epoch of whole
// numbers, in which no sum is rounded: dense and sparse rows give what a plain loop gives.
func TestChangedIsTheLoop(t *testing.T) {
	const columns, classes, perBlock = 12, 3, 40
	r := rand.New(rand.NewPCG(1, 81))
	for _, blockCount := range []int{1, 2, 5} {
		var dense, sparse [][]jobstest.Record
		change, changed := [classes][columns + 1]float64{}, [classes][columns + 1]float64{}
		for range blockCount {
			var rows [][]float32
			var labels []string
			var same []jobstest.Record
			for i := range perBlock {
				row, record := make([]float32, columns),
					jobstest.Record{Label: string(rune('a' + i%classes)), Width: columns}
				for j := range row {
					row[j] = float32(max(0, r.IntN(6)-3))
					if row[j] != 0 {
						record.Indices, record.Values = append(record.Indices, int32(j)), append(record.Values, row[j])
					}
				}
				rows, labels, same = append(rows, row), append(labels, record.Label), append(same, record)
			}
			dense, sparse = append(dense, jobstest.DenseRecords(rows, labels...)), append(sparse, same)
			w, touched := plainEpoch(rows, labels)
			for c := range classes {
				for j := range columns + 1 {
					change[c][j] += w[c][j]
					if touched[c][j] {
						changed[c][j]++
					}
				}
			}
		}
		for name, data := range map[string][][]jobstest.Record{"dense": dense, "sparse": sparse} {
			m := modelOf(t, train(t, `{"over": "mixed", "shuffle": false, "epochs": 1, "form": "plain",
				"block_records": 40}`, data...))
			for c := range classes {
				for j := range columns + 1 {
					want := float32(change[c][j] / max(1, changed[c][j]))
					if got := m.weights[m.at(c, j)]; got != want {
						t.Errorf("%s, %d blocks: class %d, column %d: %v, want %v", name, blockCount, c, j, got, want)
					}
				}
			}
		}
	}
}

// plainEpoch is the rule argmax from zero; touched are the weights of updates by values other than 0.
func plainEpoch(rows [][]float32, labels []string) (w [3][13]float64, touched [3][13]bool) {
	for i, row := range rows {
		x, class := append(wideOf(row), 1), int(labels[i][0]-'a')
		var scores [3]float64
		for c := range w {
			for j, v := range x {
				scores[c] += w[c][j] * v
			}
		}
		rival := -1
		for c, s := range scores {
			if c != class && (rival < 0 || s > scores[rival]) {
				rival = c
			}
		}
		if scores[class] > scores[rival] {
			continue
		}
		for j, v := range x {
			w[class][j] += v
			w[rival][j] -= v
			touched[class][j] = touched[class][j] || v != 0
			touched[rival][j] = touched[rival][j] || v != 0
		}
	}
	return w, touched
}

func wideOf(row []float32) []float64 {
	var wide []float64
	for _, v := range row {
		wide = append(wide, float64(v))
	}
	return wide
}
