package kmeans

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// TestLargeRoundsThatRemember is TestRoundsThatRemember with as many records as fill the parts, tiles and panels of the
// filters many times, and over enough rounds that bounds begin, are moved and are left off again. The runs of every
// set, with a memory and without, have the model and the metrics of the generic set without.
func TestLargeRoundsThatRemember(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for minutes")
	}
	for _, c := range largeCases() {
		t.Run(c.name, func(t *testing.T) {
			records := largeRecords(c)
			want := runWith(t, c.params, records, kernelops.Generic())
			for _, ops := range kernelops.All() {
				for how, options := range map[string][]jobstest.Option{
					"nothing": nil, "all": {jobstest.WithMemos(nil)},
				} {
					got := runWith(t, c.params, records, ops, options...)
					if jobstest.Digest(got.Model) != jobstest.Digest(want.Model) ||
						!reflect.DeepEqual(got.Metrics, want.Metrics) {
						t.Errorf("%s, %s remembered: %v\nwant %v", ops.Name, how, got.Metrics, want.Metrics)
					}
				}
			}
		})
	}
}

type largeCase struct {
	name, params string
	rows, width  int
	at           func(r *rand.Rand, i, j int) float64
}

func largeRecords(c largeCase) [][]jobstest.Record {
	r, table := rand.New(rand.NewPCG(15, 7)), make([][]float32, c.rows)
	for i := range table {
		table[i] = make([]float32, c.width)
		for j := range table[i] {
			table[i][j] = float32(c.at(r, i, j))
		}
	}
	return jobstest.Deal(jobstest.DenseRecords(table), 2)
}

func largeCases() []largeCase {
	const random = `{"k": %d, "max_rounds": %d, "init": "random", "tol": 0, "empty": "keep"}`
	normal := func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() }
	return []largeCase{
		{"normal", fmt.Sprintf(random, 256, 8), 40_000, 32, normal},
		{"pictures", fmt.Sprintf(random, 10, 8), 12_000, 784, picture},
		{"small centers move little", fmt.Sprintf(random, 64, 40), 20_000, 16, normal},
		{"tight groups far apart", fmt.Sprintf(random, 64, 25), 20_000, 16, func(r *rand.Rand, i, j int) float64 {
			return float64(1e4*(i*(j+3)%80)) + r.NormFloat64()/1000
		}},
		{"ties", fmt.Sprintf(random, 64, 25), 20_000, 8, func(r *rand.Rand, _, _ int) float64 {
			return float64(r.IntN(4))
		}},
		{"equal centers", equalCenters(64, 16), 20_000, 16, normal},
		{"below normal numbers", fmt.Sprintf(random, 64, 15), 20_000, 16, func(r *rand.Rand, _, _ int) float64 {
			return r.NormFloat64() * 1e-40
		}},
		{"some below normal numbers", fmt.Sprintf(random, 64, 15), 20_000, 16, func(r *rand.Rand, i, _ int) float64 {
			return r.NormFloat64() * [3]float64{1e-40, 1e-20, 1}[i%3]
		}},
		{"far from zero", fmt.Sprintf(random, 64, 25), 20_000, 16, func(r *rand.Rand, _, _ int) float64 {
			return 1e6 + r.NormFloat64()
		}},
	}
}

// picture is a point of a picture of 28 x 28: about one of ten shapes, whole numbers, most of them 0.
func picture(r *rand.Rand, i, j int) float64 {
	shape := i * 7 % 10
	x, y := j%28-14, j/28-14
	if (x*x*(1+shape%4)+y*y*(1+shape/4)+shape*x*y/4)%97 > 30 {
		return 0
	}
	return float64(min(255, 40+20*shape+r.IntN(60)))
}

// equalCenters begins with every center four times.
func equalCenters(k, width int) string {
	r, centers := rand.New(rand.NewPCG(15, 8)), make([][]float32, k)
	for i := range centers {
		if centers[i] = make([]float32, width); i%4 > 0 {
			centers[i] = centers[i-1]
			continue
		}
		for j := range centers[i] {
			centers[i][j] = float32(r.NormFloat64())
		}
	}
	params, err := json.Marshal(map[string]any{"init": "given", "empty": "keep", "max_rounds": 25, "tol": 0,
		"centers": centers})
	if err != nil {
		panic(err)
	}
	return string(params)
}
