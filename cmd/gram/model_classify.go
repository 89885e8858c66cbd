package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/spf13/cobra"
)

func modelClassifyCommand(a *app) *cobra.Command {
	var from, header string
	var top int
	cmd := &cobra.Command{
		Use:   "classify --model JOB|FILE|URI [RECORD...]",
		Short: "Predict records: the arguments, or the lines of stdin",
		Example: `  gram model classify --model glosses-k3f9p2 'a large cat' 'a kind of bread'
  gram model classify --model ./model.safetensors < texts.txt
  gram model classify --model glosses-k3f9p2 -o json --top 3 < texts.txt
  gram model classify --model iris-k3f9p2 5.1,3.5,1.4,0.2`,
		Long: `Prints the decision for each record, with its posterior probability or what the
model has in its place: a distance, a score, a share of votes. A record is a
text or, for models of dense vectors, numbers with commas between them, and
nothing where one is missing if the model was trained with features.missing;
behind them its categories, if the model has any, in the order of
spec.input.categorical. With -o json it is one object per line, with the --top
best classes. A line of stdin is at most 1 MiB; a longer one ends the command
with its number. The first line of stdin is left out if the spec of the model's
job has header: true.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := loadModel(cmd.Context(), a, from)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return classifyLines(cmd.Context(), a, m, records.Each(args), top)
			}
			lines, err := recordsOfStdin(cmd.Context(), a, m, header)
			if err != nil {
				return err
			}
			return classifyLines(cmd.Context(), a, m, lines, top)
		},
	}
	cmd.Flags().StringVar(&from, "model", "", "the `model`: a job's id, a file or a URI")
	cmd.Flags().StringVar(&header, "header", "auto", "is the first line of stdin a header: true, false, or `auto`")
	cmd.Flags().IntVar(&top, "top", 5, "with -o json: this `many` classes per text; 0 is all")
	if err := cmd.MarkFlagRequired("model"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// recordsOfStdin are the lines of stdin, without a header.
func recordsOfStdin(ctx context.Context, a *app, m *model, header string) (iter.Seq2[string, error], error) {
	lines := records.Lines(a.in)
	begins := header == "true"
	switch header {
	case "true", "false":
	case "auto":
		var err error
		if begins, err = headerBeside(ctx, m.uri, m.sha256); err != nil {
			a.note("gram: whether stdin begins with a header is not known, so its first line is a record: %v", err)
		}
	default:
		return nil, &exit.Failure{Code: exit.Usage,
			What: fmt.Sprintf("--header wants true, false or auto, not %.80q", header)}
	}
	if !begins {
		return lines, nil
	}
	form, err := records.FormOf(m.arrays)
	if err != nil {
		return nil, exit.WithoutSpec(err, exit.Failed)
	}
	return afterHeader(a, lines, form), nil
}

// classifyLines asks a model for probabilities, or for whatever it says.
func classifyLines(ctx context.Context, a *app, m *model, lines iter.Seq2[string, error], top int) error {
	switch {
	case m.kind.Classify != nil:
		classifier, err := m.kind.Classify(m.arrays)
		if err != nil {
			return exit.WithoutSpec(err, exit.Failed)
		}
		return classify(a, classifier, lines, top)
	case m.kind.Predict != nil:
		return predictLines(ctx, a, m, lines, top)
	}
	return fmt.Errorf("a model of kind %s does not predict", m.kind.Name)
}

// classify prints each prediction as soon as it is made.
func classify(a *app, c jobs.Classifier, texts iter.Seq2[string, error], top int) error {
	palette := a.palette(a.out)
	enc := json.NewEncoder(terminal.JSONWriter{W: a.out})
	enc.SetEscapeHTML(false)
	for text, err := range texts {
		if err != nil {
			return err
		}
		p, err := c.Classify(text)
		if err != nil {
			return err
		}
		if a.flags.output == "json" {
			if top > 0 {
				p.Scores = slices.Clip(p.Scores[:min(top, len(p.Scores))])
			}
			if err := enc.Encode(records.Prediction{SchemaVersion: show.SchemaVersion, Text: text,
				Prediction: p}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.out, records.PredictionLine(p, text, palette)); err != nil {
			return err
		}
	}
	return nil
}
