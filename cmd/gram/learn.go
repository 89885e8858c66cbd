package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops"
	"github.com/spf13/cobra"
)

func (a *app) modelLearnCommand() *cobra.Command {
	var corrections, out string
	cmd := &cobra.Command{
		Use:   "learn JOB|FILE|URI --out FILE",
		Short: "Go on training a model, one record after the other",
		Example: `  gram model learn glosses-k3f9p2 --out better.safetensors
  gram model learn ./model.safetensors --out new.safetensors \
    --corrections told.tsv`,
		Long: `Predict, be told, update: the model predicts a record, is told the true label,
and learns as in training. An epoch over the same records, chained and not
shuffled, makes the same weights.

Records and labels come from stdin in turns, a line each, and the prediction is
printed between them. An empty line for a label says that it was right, "-"
skips the record. With --corrections nothing is printed before the end: a line
is LABEL<tab>TEXT or, for models of dense vectors, CSV with the label first.

The model is written at the end; the same labels for the same records give the
same bytes. Models of kind Perceptron learn, and those of kind KernelPerceptron
in form plain or voted.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.writable(out)
			if err != nil {
				return err
			}
			m, err := a.loadModel(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.learn(cmd.Context(), m, corrections, path)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` for the new model")
	cmd.Flags().StringVar(&corrections, "corrections", "", "`file` with a label and a record in each line; - is stdin")
	if err := cmd.MarkFlagRequired("out"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

// learn teaches a model and writes what became of it.
func (a *app) learn(ctx context.Context, m *model, corrections, out string) error {
	l, err := a.newLesson(m)
	if err != nil {
		return err
	}
	if err := a.teach(ctx, l, corrections); err != nil {
		return err
	}
	return a.keepLearned(m, l, out)
}

// writable is the path of a file that is to be written at the end of a long conversation.
func (a *app) writable(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", &failure{code: exitUsage, what: "--out " + path + " cannot be written", hint: "Its folder must be there."}
	}
	return path, nil
}

// lesson is a model that learns, and how it went so far.
type lesson struct {
	learner jobs.Learner
	answers jobs.Answers
	form    recordForm
	offsets []dataset.Offset // taken off the records that the model is of
	told    int64            // records whose label was told
	wrong   int64            // of these, those that were predicted wrongly
	updates int64            // of these, those that changed the weights
}

func (a *app) newLesson(m *model) (*lesson, error) {
	if m.kind.Learn == nil {
		return nil, &failure{code: exitFailed, what: fmt.Sprintf("a model of kind %s does not go on learning", m.kind.Name),
			hint: "Models of kind Perceptron and KernelPerceptron do."}
	}
	form, err := formOf(m)
	if err != nil {
		return nil, err
	}
	predictor, err := m.kind.Predict(m.arrays, kernelops.Best())
	if err != nil {
		return nil, err
	}
	learner, err := m.kind.Learn(m.arrays, kernelops.Best())
	if err != nil {
		return nil, withoutSpec(err, exitFailed)
	}
	offsets, err := jobs.Offsets(m.arrays)
	return &lesson{learner: learner, answers: predictor.Answers(), form: form, offsets: offsets}, err
}

// predict asks for one record.
func (l *lesson) predict(record string) (jobs.Outcome, error) {
	block, err := l.form.block(record, l.offsets)
	if err != nil {
		return jobs.Outcome{}, err
	}
	return l.learner.Predict(block)
}

// tell tells the label of the record that was predicted.
func (l *lesson) tell(predicted jobs.Outcome, label string) error {
	changed, err := l.learner.Update(label)
	if err != nil {
		return err
	}
	l.told++
	if predicted.Rejected || predicted.Label != label {
		l.wrong++
	}
	if changed {
		l.updates++
	}
	return nil
}

// teach goes through all records: those of a file of corrections, or those of stdin.
func (a *app) teach(ctx context.Context, l *lesson, corrections string) (err error) {
	switch corrections {
	case "":
		return a.converse(ctx, l)
	case "-":
		return l.correct(ctx, "stdin", linesOf(a.in))
	}
	path := corrections
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return &failure{code: exitUsage, what: "--corrections cannot be read", why: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return l.correct(ctx, corrections, linesOf(f))
}

// correct learns from every line of a file.
func (l *lesson) correct(ctx context.Context, name string, lines iter.Seq2[string, error]) error {
	number := 0
	for line, err := range lines {
		number++
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = l.correctOne(line)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", name, number, err)
		}
	}
	return nil
}

func (l *lesson) correctOne(line string) error {
	label, record, err := l.form.correction(line)
	if err != nil {
		return err
	}
	predicted, err := l.predict(record)
	if err != nil {
		return err
	}
	return l.tell(predicted, label)
}

// learnedView says how a lesson went.
type learnedView struct {
	SchemaVersion int    `json:"schema_version"`
	Told          int64  `json:"told"`
	Wrong         int64  `json:"wrong"`
	Updates       int64  `json:"updates"`
	From          string `json:"from_sha256"`
	Model         string `json:"model_sha256"`
	File          string `json:"file"`
}

// keepLearned writes the model and says what became of it.
func (a *app) keepLearned(from *model, l *lesson, out string) error {
	data := jobs.WithOffsets(l.learner.Model(), l.offsets).Encode()
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	if err := writeWhole(out, write); err != nil {
		return err
	}
	view := learnedView{schemaVersion, l.told, l.wrong, l.updates, from.sha256, digestOf(data), out}
	if a.flags.output == "json" {
		return a.printLine(view)
	}
	table := terminal.Table{}
	table.Row("told", fmt.Sprintf("%d records, %d of them predicted wrongly", l.told, l.wrong))
	table.Row("updates", fmt.Sprint(l.updates))
	table.Row("from", view.From)
	table.Row("model", view.Model)
	table.Row("file", out)
	table.Write(a.out)
	return nil
}
