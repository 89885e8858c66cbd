package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
)

// predictLines prints what a model says of each line as soon as it is known.
func predictLines(ctx context.Context, a *app, m *model, lines iter.Seq2[string, error], top int) error {
	form, err := records.FormOf(m.arrays)
	if err != nil {
		return err
	}
	offsets, err := jobs.Offsets(m.arrays)
	if err != nil {
		return err
	}
	predictor, err := m.kind.Predict(m.arrays, kernelops.Best())
	if err != nil {
		return exit.WithoutSpec(err, exit.Failed)
	}
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetEscapeHTML(false)
	palette, number := a.palette(a.out), 0
	for line, err := range lines {
		if err != nil {
			return err
		}
		number++
		outcome, err := records.Predict(ctx, predictor, form, offsets, line)
		if err != nil {
			return fmt.Errorf("%v %d: %w", form, number, err)
		}
		if a.flags.output == "json" {
			if err := enc.Encode(records.OfOutcome(outcome, predictor.Answers(), form, line, top)); err != nil {
				return err
			}
			continue
		}
		text := records.OutcomeText(outcome, predictor.Answers())
		rest := palette.Faint(terminal.Shorten(terminal.Clean(line), max(20, 77-len([]rune(text)))))
		if _, err := fmt.Fprintf(a.out, "%s  %s\n", text, rest); err != nil {
			return err
		}
	}
	return nil
}
