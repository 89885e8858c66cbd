package evaluation

import (
	"errors"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// Whatever bytes a partial has, it is read or refused as corrupt; what was read is written to the same bytes
// again, once it was written.
func FuzzReadTally(f *testing.F) {
	two := []string{"1", "b"}
	for i, answers := range []jobs.Answers{{Labels: []string{"a"}}, {Value: "value"},
		{Labels: two, Scale: jobs.Probabilities}} {
		judged, err := NewScoredTally(answers, []*Scoring{2: scoringOf(30)}[i])
		if err != nil {
			f.Fatal(err)
		}
		block := &dataset.Block{Labels: [][]byte{[]byte("1"), []byte("2")}, Dense: dataset.Dense{Width: 16,
			Values: make([]float32, 32)}}
		for i := range block.Labels {
			block.IDs = append(block.IDs, dataset.Identity{Object: "records", Offset: int64(i)})
		}
		for i := range block.Labels {
			o := jobs.Outcome{Label: "a", Value: 3, Scores: []float64{0.25, 0.75}}
			if err := judged.Judge(block, i, o); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(jobs.ArraysOf(judged).Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		judged, err := jobs.Read(a, &Tally{})
		var fault *protocol.Fault
		if err != nil {
			if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
				t.Fatal(err)
			}
			return
		}
		first := jobs.ArraysOf(judged)
		again, err := jobs.Read(first, &Tally{})
		if err != nil {
			t.Fatal(err)
		}
		if string(first.Encode()) != string(jobs.ArraysOf(again).Encode()) {
			t.Error("it was written in two ways")
		}
		if _, err := judged.Metrics(nil, nil); err != nil {
			t.Error(err)
		}
	})
}
