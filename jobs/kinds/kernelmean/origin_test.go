package kernelmean

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// farAway are records of three classes that take turns, for the rbf kernel of kernelOf: around an offset, and where
// tight is set in two places 2,000 apart that products cannot tell apart.
func farAway(n int, offset float64, tight, weighted bool) (rows [][]float32, weights []float64,
	records []jobstest.Record) {
	draw := rand.New(rand.NewPCG(5, 6))
	labels := make([]string, n)
	for i := range n {
		row := make([]float32, 4)
		for j := range row {
			at := offset
			if tight && j == 0 {
				at += float64(2000*(i%2)) + float64(i%3)
			}
			row[j] = float32(at + 0.3*draw.NormFloat64())
		}
		rows, labels[i], weights = append(rows, row), string(rune('a'+i%3)), append(weights, 1)
		if weighted {
			weights[i] = float64(1 + i%4)
		}
	}
	records = jobstest.DenseRecords(rows, labels...)
	for i := range records {
		if weighted {
			records[i].Weight = float32(weights[i])
		}
	}
	return rows, weights, records
}

// Far from 0, and where products do not tell distances, the squares are those of float64, and so are the norms of a
// model that gives up its base.
func TestFarAwayAgainstBruteForce(t *testing.T) {
	const params = `{"kernel": "rbf", "gamma": 0.5}`
	for _, tight := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			for _, offset := range []float64{0, 100, 1e4, 1e6} {
				rows, weights, records := farAway(60, offset, tight, weighted)
				name := fmt.Sprintf("offset %v, tight: %v, weighted: %v", offset, tight, weighted)
				found := outcomes(t, MeanName, mustTrain(t, MeanName, params, records), records)
				for i, o := range found {
					for y := range 3 {
						want, scale := squaredToMean(params, rows, weights, rows[i], y)
						if got := o.Scores[y] * o.Scores[y]; math.Abs(got-max(0, want)) > 1e-6*scale {
							t.Fatalf("%s: record %d is %v from class %d, not %v", name, i, got, y, want)
						}
					}
				}
				var counts []string
				for _, form := range []string{params, unstoring(params)} {
					for _, shards := range []int{2, 5} {
						r := decide(t, MeanName, form, jobstest.Deal(records, shards), jobstest.Deal(records, 2),
							kernelops.Best())
						counts = append(counts, metricsOf(r, "norms."))
					}
				}
				for _, c := range counts {
					if c != counts[0] || strings.Contains(c, "differences 0\n") == tight {
						t.Errorf("%s: %q and %q", name, c, counts[0])
					}
				}
			}
		}
	}
}

// Kernel sets and the way that blocks and tasks are grouped change no byte on either road.
func TestFarAwayBits(t *testing.T) {
	_, _, records := farAway(40, 1e5, true, true)
	spec := specOf(MeanName, `{"kernel": "rbf", "gamma": 0.5}`)
	algorithm, err := MeanKind().New(spec)
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, algorithm, spec, jobstest.Deal(records, 3), kernelops.Best())
	digests := map[string]bool{}
	for _, ops := range kernelops.All() {
		model, err := train(t, MeanName, string(spec.Spec.Params), records, 3, ops)
		if err != nil {
			t.Fatal(err)
		}
		digests[jobstest.Digest(model)+fmt.Sprint(outcomes(t, MeanName, model, records))] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d models and predictions", len(digests))
	}
}

// A model without an origin predicts while its values are known to 1e-3, and says so where they are not.
func TestMeanWithoutOrigin(t *testing.T) {
	for offset, refused := range map[float64]bool{0: false, 1e4: true} {
		_, _, records := farAway(30, offset, false, false)
		model := mustTrain(t, MeanName, `{"kernel": "rbf", "gamma": 0.5}`, records)
		delete(model, "kernel.origin")
		if _, err := NewMeanPredictor(model, kernelops.Best()); err == nil {
			t.Error("a model that lost its origin loads")
		}
		model.PutKind(MeanName, 1)
		p, err := NewMeanPredictor(model, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		err = predictAll(t, p, records)
		var fault *protocol.Fault
		if errors.As(err, &fault) != refused || refused && (fault.Code != protocol.CodeBadRecord ||
			!strings.Contains(fault.Hint, "again")) {
			t.Errorf("offset %v: %v", offset, err)
		}
	}
}

func predictAll(t *testing.T, p jobs.Predictor, records []jobstest.Record) error {
	t.Helper()
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 10)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Predict(t.Context(), block); err != nil {
			return err
		}
	}
	return nil
}
