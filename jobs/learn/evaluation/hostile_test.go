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
	for _, answers := range []jobs.Answers{{Labels: []string{"a"}}, {Value: "value"}} {
		judged := NewTally(answers)
		for i, label := range []string{"1", "2"} {
			id := dataset.Identity{Object: "records", Offset: int64(i)}
			if err := judged.Judge(id, []byte(label), jobs.Outcome{Label: "a", Value: 3},
				make([]float32, 16)); err != nil {
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
		if _, err := judged.Metrics(nil); err != nil {
			t.Error(err)
		}
	})
}
