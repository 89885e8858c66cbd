package evaluation

import (
	"context"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// rated answers with the scores of its list, in turn.
type ratedBy struct {
	answers jobs.Answers
	list    []jobs.Outcome
}

func (r ratedBy) Answers() jobs.Answers { return r.answers }

func (r ratedBy) Predict(context.Context, *dataset.Block) ([]jobs.Outcome, error) { return r.list, nil }

// Distances 2 and 3 are 1 apart, and 2 and 2.25 a quarter, less than a half.
func TestRejecting(t *testing.T) {
	list := []jobs.Outcome{{Label: "a", Scores: []float64{2, 3}}, {Label: "a", Scores: []float64{2, 2.25}},
		{Rejected: true, Scores: []float64{0, 9}}}
	p, err := Rejecting(ratedBy{jobs.Answers{Labels: []string{"a", "b"}, Scale: jobs.Distances}, list}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := p.Predict(t.Context(), &dataset.Block{IDs: make([]dataset.Identity, 3)})
	if err != nil || outcomes[0].Label != "a" || !outcomes[1].Rejected || outcomes[1].Label != "" ||
		!outcomes[2].Rejected {
		t.Errorf("%+v, %v", outcomes, err)
	}
	if _, err := Rejecting(ratedBy{answers: jobs.Answers{Value: "value"}}, 1); err == nil {
		t.Error("values are rejected")
	}
}
