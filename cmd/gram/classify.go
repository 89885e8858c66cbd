package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/spf13/cobra"
)

// maxTextBytes bounds one line of stdin, without its end.
const maxTextBytes = 1 << 20

// maxLabelColumns leaves room for the text within 80 columns.
const maxLabelColumns = 40

func (a *app) modelClassifyCommand() *cobra.Command {
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
text or, for models of dense vectors, numbers with commas between them. With
-o json it is one object per line, with the --top best classes. A line of stdin
is at most 1 MiB; a longer one ends the command with its number. The first line
of stdin is left out if the spec of the model's job has header: true.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := a.loadModel(cmd.Context(), from)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				return a.classifyLines(cmd.Context(), m, each(args), top)
			}
			lines, err := a.recordsOfStdin(cmd.Context(), m, header)
			if err != nil {
				return err
			}
			return a.classifyLines(cmd.Context(), m, lines, top)
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
func (a *app) recordsOfStdin(ctx context.Context, m *model, header string) (iter.Seq2[string, error], error) {
	lines := linesOf(a.in)
	begins := header == "true"
	switch header {
	case "true", "false":
	case "auto":
		var err error
		if begins, err = headerBeside(ctx, m.uri, m.sha256); err != nil {
			a.note("gram: whether stdin begins with a header is not known, so its first line is a record: %v", err)
		}
	default:
		return nil, &failure{code: exitUsage, what: fmt.Sprintf("--header wants true, false or auto, not %.80q", header)}
	}
	if !begins {
		return lines, nil
	}
	form, err := formOf(m)
	if err != nil {
		return nil, withoutSpec(err, exitFailed)
	}
	return a.afterHeader(lines, form), nil
}

// classifyLines asks a model for probabilities, or for whatever it says.
func (a *app) classifyLines(ctx context.Context, m *model, lines iter.Seq2[string, error], top int) error {
	switch {
	case m.kind.Classify != nil:
		classifier, err := m.kind.Classify(m.arrays)
		if err != nil {
			return err
		}
		return a.classify(classifier, lines, top)
	case m.kind.Predict != nil:
		return a.predictLines(ctx, m, lines, top)
	}
	return fmt.Errorf("a model of kind %s does not predict", m.kind.Name)
}

// each yields the arguments of a command as if they were lines.
func each(args []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, arg := range args {
			if !yield(arg, nil) {
				return
			}
		}
	}
}

// linesOf yields the lines of a stream, without their ends.
func linesOf(r io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxTextBytes+len("\r\n"))
		number := 1
		for ; lines.Scan() && len(lines.Bytes()) <= maxTextBytes; number++ {
			if !yield(lines.Text(), nil) {
				return
			}
		}
		err := lines.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong) || len(lines.Bytes()) > maxTextBytes:
			yield("", fmt.Errorf("line %d of stdin is longer than 1 MiB (%d bytes)", number, maxTextBytes))
		case err != nil:
			yield("", fmt.Errorf("read line %d of stdin: %w", number, err))
		}
	}
}

type predictionView struct {
	SchemaVersion int    `json:"schema_version"`
	Text          string `json:"text"`
	jobs.Prediction
}

// classify prints each prediction as soon as it is made.
func (a *app) classify(c jobs.Classifier, texts iter.Seq2[string, error], top int) error {
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
			if err := enc.Encode(predictionView{schemaVersion, text, p}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.out, predictionLine(p, text, palette)); err != nil {
			return err
		}
	}
	return nil
}

// predictionLine is a decision in columns; the text is cut to fit 80 of them.
func predictionLine(p jobs.Prediction, text string, palette terminal.Palette) string {
	label, posterior := "(rejected)", 0.0
	if len(p.Scores) > 0 {
		posterior = p.Scores[0].Posterior
	}
	if !p.Rejected {
		label = terminal.Shorten(terminal.Clean(p.Label), maxLabelColumns)
	}
	line := fmt.Sprintf("%-20s  %.4f  ", label, posterior)
	return line + palette.Faint(terminal.Shorten(terminal.Clean(text), max(20, 79-len([]rune(line)))))
}
