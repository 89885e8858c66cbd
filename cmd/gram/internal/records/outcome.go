package records

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
)

// LabelColumns leaves room for the text within 80 columns.
const LabelColumns = 40

// Prediction is a prediction with posterior probabilities as -o json prints it.
type Prediction struct {
	SchemaVersion int    `json:"schema_version"`
	Text          string `json:"text"`
	jobs.Prediction
}

// Outcome is what a model that gives no posterior probabilities says of a record.
type Outcome struct {
	SchemaVersion int           `json:"schema_version"`
	Text          string        `json:"text,omitempty"`
	Vector        string        `json:"vector,omitempty"` // as it was given
	Label         string        `json:"label"`
	Rejected      bool          `json:"rejected"`
	Value         *float64      `json:"value,omitempty"`
	ValueIs       string        `json:"value_is,omitempty"` // such as "distance"
	Scores        []outcomeRate `json:"scores,omitempty"`   // highest first
}

type outcomeRate struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// Predict asks a model about the record in a line.
func Predict(ctx context.Context, p jobs.Predictor, form Form, offsets []dataset.Offset, line string) (jobs.Outcome,
	error) {
	block, err := form.Block(line, offsets)
	if err != nil {
		return jobs.Outcome{}, err
	}
	outcomes, err := p.Predict(ctx, block)
	if err != nil {
		return jobs.Outcome{}, err
	}
	if len(outcomes) != 1 {
		return jobs.Outcome{}, fmt.Errorf("a model gave %d predictions of one record", len(outcomes))
	}
	return outcomes[0], nil
}

// OfOutcome returns an outcome with its highest scores; top 0 means all.
func OfOutcome(o jobs.Outcome, answers jobs.Answers, form Form, line string, top int) Outcome {
	v := Outcome{SchemaVersion: show.SchemaVersion, Label: o.Label, Rejected: o.Rejected}
	if form.vectors {
		v.Vector = line
	} else {
		v.Text = line
	}
	if answers.Value != "" && !math.IsNaN(o.Value) && !math.IsInf(o.Value, 0) {
		v.Value, v.ValueIs = &o.Value, answers.Value
	}
	if len(answers.Scores) > 0 { // else they are of labels, to judge a model by
		for i, score := range o.Scores {
			if !math.IsNaN(score) && !math.IsInf(score, 0) {
				v.Scores = append(v.Scores, outcomeRate{answers.Scores[i], score})
			}
		}
	}
	// total order: stable, labels come in byte order
	slices.SortStableFunc(v.Scores, func(a, b outcomeRate) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if top > 0 {
		v.Scores = v.Scores[:min(top, len(v.Scores))]
	}
	return v
}

// OutcomeText is what a model says of a record, in short.
func OutcomeText(o jobs.Outcome, answers jobs.Answers) string {
	label := "(rejected)"
	switch {
	case o.Rejected:
	case answers.Labels == nil:
		return fmt.Sprintf("%-20.6g", o.Value)
	default:
		label = terminal.Clean(o.Label)
	}
	if answers.Value != "" {
		return fmt.Sprintf("%-20s  %s %.4g", label, answers.Value, o.Value)
	}
	return fmt.Sprintf("%-20s", label)
}

// PredictionLine is a decision in columns; the text is cut to fit 80 of them.
func PredictionLine(p jobs.Prediction, text string, palette terminal.Palette) string {
	label, posterior := "(rejected)", 0.0
	if len(p.Scores) > 0 {
		posterior = p.Scores[0].Posterior
	}
	if !p.Rejected {
		label = terminal.Shorten(terminal.Clean(p.Label), LabelColumns)
	}
	line := fmt.Sprintf("%-20s  %.4f  ", label, posterior)
	return line + palette.Faint(terminal.Shorten(terminal.Clean(text), max(20, 79-len([]rune(line)))))
}
