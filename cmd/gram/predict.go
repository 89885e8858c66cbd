package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// outcomeView is what a model that gives no posterior probabilities says of a record.
type outcomeView struct {
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

// predictLines prints what a model says of each line as soon as it is known.
func (a *app) predictLines(ctx context.Context, m *model, lines iter.Seq2[string, error], top int) error {
	form, err := formOf(m)
	if err != nil {
		return err
	}
	offsets, err := jobs.Offsets(m.arrays)
	if err != nil {
		return err
	}
	predictor, err := m.kind.Predict(m.arrays, kernelops.Best())
	if err != nil {
		return withoutSpec(err, exitFailed)
	}
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetEscapeHTML(false)
	palette, number := a.palette(a.out), 0
	for line, err := range lines {
		if err != nil {
			return err
		}
		number++
		outcome, err := predictLine(ctx, predictor, form, offsets, line)
		if err != nil {
			return fmt.Errorf("%v %d: %w", form, number, err)
		}
		if a.flags.output == "json" {
			if err := enc.Encode(viewOutcome(outcome, predictor.Answers(), form, line, top)); err != nil {
				return err
			}
			continue
		}
		text := outcomeText(outcome, predictor.Answers())
		rest := palette.Faint(terminal.Shorten(terminal.Clean(line), max(20, 77-len([]rune(text)))))
		if _, err := fmt.Fprintf(a.out, "%s  %s\n", text, rest); err != nil {
			return err
		}
	}
	return nil
}

func predictLine(ctx context.Context, p jobs.Predictor, form recordForm, offsets []dataset.Offset, line string) (jobs.Outcome, error) {
	block, err := form.block(line, offsets)
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

func viewOutcome(o jobs.Outcome, answers jobs.Answers, form recordForm, line string, top int) outcomeView {
	v := outcomeView{SchemaVersion: schemaVersion, Label: o.Label, Rejected: o.Rejected}
	if form == vectorRecords {
		v.Vector = line
	} else {
		v.Text = line
	}
	if answers.Value != "" && !math.IsNaN(o.Value) && !math.IsInf(o.Value, 0) {
		v.Value, v.ValueIs = &o.Value, answers.Value
	}
	for i, score := range o.Scores {
		if !math.IsNaN(score) && !math.IsInf(score, 0) {
			v.Scores = append(v.Scores, outcomeRate{answers.Scores[i], score})
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
