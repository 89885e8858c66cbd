package kmeans

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func TestHostileModels(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":      func(a jobs.Arrays) { a.PutKind("NaiveBayes", 1) },
		"another version":   func(a jobs.Arrays) { a.PutKind(KindName, 2) },
		"no centers":        func(a jobs.Arrays) { jobs.Put(a, "centers", []float64{}, 0, 1) },
		"centers missing":   func(a jobs.Arrays) { delete(a, "centers") },
		"another width":     func(a jobs.Arrays) { jobs.Put(a, "centers", []float64{1, 2, 3, 4}, 2, 2) },
		"a center NaN":      func(a jobs.Arrays) { jobs.Put(a, "centers", []float64{1, math.NaN()}, 2, 1) },
		"a center infinite": func(a jobs.Arrays) { jobs.Put(a, "centers", []float64{1, math.Inf(1)}, 2, 1) },
		"float32 centers":   func(a jobs.Arrays) { jobs.Put(a, "centers", []float32{1, 2}, 2, 1) },
		"metric":            func(a jobs.Arrays) { a.PutText("metric", "manhattan") },
		"cosine unscaled":   func(a jobs.Arrays) { a.PutText("metric", metricCosine) },
		"init":              func(a jobs.Arrays) { a.PutText("training.init", "") },
		"stop":              func(a jobs.Arrays) { a.PutText("training.stop", "never") },
		"fewer sizes":       func(a jobs.Arrays) { jobs.Put(a, "clusters.records", []int64{5}) },
		"size below 0":      func(a jobs.Arrays) { jobs.Put(a, "clusters.records", []int64{6, -1}) },
		"sizes overflow":    func(a jobs.Arrays) { jobs.Put(a, "clusters.records", []int64{math.MaxInt64, 1}) },
		"weight NaN":        func(a jobs.Arrays) { jobs.Put(a, "clusters.weight", []float64{1, math.NaN()}) },
		"costs infinite": func(a jobs.Arrays) {
			jobs.Put(a, "clusters.cost",
				[]float64{math.MaxFloat64, math.MaxFloat64})
		},
		"cost below 0":   func(a jobs.Arrays) { jobs.Put(a, "clusters.cost", []float64{1, -1}) },
		"labels":         func(a jobs.Arrays) { jobs.Put(a, "clusters.labels", []int64{1, 2}, 1, 2) },
		"labels below 0": func(a jobs.Arrays) { jobs.Put(a, "clusters.labels", []int64{1, 2, 3, -1}, 2, 2) },
		"rounds 0":       func(a jobs.Arrays) { jobs.PutScalar(a, "training.rounds", int64(0)) },
		"restart":        func(a jobs.Arrays) { jobs.PutScalar(a, "training.restart", int64(-1)) },
		"silhouette":     func(a jobs.Arrays) { jobs.PutScalar(a, "training.silhouette", math.NaN()) },
	} {
		model := train(t, fromLeft, line).Model
		spoil(model)
		_, err := NewPredictor(model, kernelops.Generic())
		wantFault(t, err, protocol.CodeCorrupt, "")
		_, err = Kind().Describe(model, jobs.DescribeOptions{})
		if err == nil {
			t.Errorf("%s: described", name)
		}
	}
}

// Whatever the bytes, loading gives a CORRUPT fault or a predictor that answers with a cluster it has.
func FuzzModel(f *testing.F) {
	f.Add(train(f, fromLeft, line).Model.Encode(), float32(2))
	f.Add(train(f, `{"k": 2, "metric": "cosine"}`, blobs(9, 4, 2, 1)).Model.Encode(), float32(0))
	f.Add(train(f, `{"k": 3, "scale": "standard", "restarts": 2}`, blobs(9, 3, 3, 1)).Model.Encode(), float32(-1))
	for _, params := range []string{
		`{"k": 3, "algorithm": "soft", "stiffness": 0.5, "indices": true, "silhouette_sample": 4}`,
		`{"k": 4, "algorithm": "bisecting"}`, `{"k": 2, "algorithm": "minibatch", "max_rounds": 3}`,
	} {
		f.Add(train(f, params, blobs(9, 2, 3, 1)).Model.Encode(), float32(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, value float32) {
		arrays, err := jobs.Decode(data)
		if err != nil {
			return
		}
		p, err := NewPredictor(arrays, kernelops.Generic())
		if err != nil {
			wantFault(t, err, protocol.CodeCorrupt, "")
			return
		}
		m, err := readModel(arrays)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Kind().Describe(arrays, jobs.DescribeOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Kind().Figures(arrays, nil); err != nil {
			t.Fatal(err)
		}
		if m.space.Sparse {
			return
		}
		block := &dataset.Block{IDs: []dataset.Identity{{Object: "x"}},
			Dense: dataset.Dense{Width: m.space.Width, Values: slices.Repeat([]float32{value}, m.space.Width)}}
		outcomes, err := p.Predict(t.Context(), block)
		var fault *protocol.Fault
		switch {
		case err != nil && (!errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord):
			t.Fatal(err)
		case err == nil && (!slices.Contains(p.Answers().Labels, outcomes[0].Label) || !(outcomes[0].Value >= 0)):
			t.Fatalf("outcome %+v", outcomes[0])
		}
	})
}
