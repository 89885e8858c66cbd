package perceptron

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops/philox"
)

var votesCost = flag.Bool("perceptron.votes", false,
	"measure accuracy by max_vectors, and 60,000 x 784 at the defaults (docs/perceptrons.md)")

// The table of docs/perceptrons.md: what dropping vectors costs, by votes and by age.
func TestAccuracyByVotes(t *testing.T) {
	if !*votesCost {
		t.Skip("a measurement: -perceptron.votes")
	}
	records := digits(t)
	learned, others := records[:1200], records[1200:]
	for _, form := range []string{"voted", "unweighted"} {
		all := modelOf(t, train(t, fmt.Sprintf(`{"form": %q, "epochs": 10, "block_records": 16384}`, form), learned))
		t.Logf("%s, all %d: %.3f", form, all.votes(), share(t, all, others))
		for _, most := range []int{10, 30, 100, 300} {
			some, last := *all, *all
			some.Learner = kept(all, most)
			some.steps, some.weights, last.Learner = all.steps, all.weights,
				&Learner{Setup: all.Setup, weights: all.weights, steps: all.steps}
			from := all.votes() - most
			last.vectors, last.survived = all.vectors[from*all.size():], slices.Clone(all.survived[from:])
			t.Logf("%s, %d with the most votes %.3f, the last %.3f", form, most, share(t, &some, others),
				share(t, &last, others))
		}
	}
}

func share(t *testing.T, m *model, records []jobstest.Record) float64 {
	t.Helper()
	return 1 - float64(wrong(t, jobs.ArraysOf(m), records))/float64(len(records))
}

// A table of 60,000 x 784 with ten classes that overlap, at the defaults of form voted.
func TestVotedAtItsDefaults(t *testing.T) {
	if !*votesCost {
		t.Skip("a measurement: -perceptron.votes")
	}
	key := philox.New(1, "test/votes")
	records := make([]jobstest.Record, 60_000)
	for i := range records {
		class, row := i%10, make([]float32, 784)
		for j := range row {
			row[j] = float32(key.Float64(uint64(i), uint64(j)))
			if j%10 == class {
				row[j] += 0.07
			}
		}
		records[i] = jobstest.Record{Label: string(rune('0' + class)), Dense: row}
	}
	m := modelOf(t, train(t, `{"form": "voted", "block_records": 16384}`, records[:30_000], records[30_000:]))
	t.Logf("mistakes %v; %d vectors, dropped %+v", m.epochMistakes, m.votes()+1, m.dropped)
}
