package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/spf13/cobra"
)

func modelLearnCommand(a *app) *cobra.Command {
	var corrections, out string
	cmd := &cobra.Command{
		Use:   "learn JOB|FILE|URI --out FILE",
		Short: "Go on training a model, one record after the other",
		Example: `  gram model learn glosses-k3f9p2 --out better.safetensors
  gram model learn ./model.safetensors --out new.safetensors \
    --corrections told.tsv`,
		Long: `Predict, be told, update: the model predicts a record, is told the true label,
and learns as in training. Of a perceptron, an epoch over the same records,
chained and not shuffled, makes the same weights.

Records and labels come from stdin in turns, a line each, and the prediction is
printed between them. An empty line for a label says that it was right, "-"
skips the record. With --corrections nothing is printed before the end: a line
is LABEL<tab>TEXT or, for models of dense vectors, CSV with the label first.

The model is written at the end; the same labels for the same records give the
same bytes. Models of kind Perceptron and LinearModel learn, and those of kind
KernelPerceptron in form plain or voted. Nothing is proved of a LinearModel that
learned on.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := writable(a, out)
			if err != nil {
				return err
			}
			m, err := loadModel(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return learn(cmd.Context(), a, m, corrections, path)
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
func learn(ctx context.Context, a *app, m *model, corrections, out string) error {
	l, err := newLesson(a, m)
	if err != nil {
		return err
	}
	if err := teach(ctx, a, l, corrections); err != nil {
		return err
	}
	return keepLearned(a, m, l, out)
}

// writable is the path of a file that is to be written at the end of a long conversation.
func writable(a *app, path string) (string, error) {
	path = a.within(path)
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", &exit.Failure{Code: exit.Usage, What: "--out " + path + " cannot be written",
			Hint: "Its folder must be there."}
	}
	return path, nil
}

// teach goes through all records: those of a file of corrections, or those of stdin.
func teach(ctx context.Context, a *app, l *lesson, corrections string) (err error) {
	switch corrections {
	case "":
		return converse(ctx, a, l)
	case "-":
		return l.correct(ctx, "stdin", records.Lines(a.in))
	}
	path := corrections
	path = a.within(path)
	f, err := os.Open(path)
	if err != nil {
		return &exit.Failure{Code: exit.Usage, What: "--corrections cannot be read", Why: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return l.correct(ctx, corrections, records.Lines(f))
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
func keepLearned(a *app, from *model, l *lesson, out string) error {
	data := jobs.WithOffsets(l.learner.Model(), l.offsets).Encode()
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	if err := files.Write(out, write); err != nil {
		return err
	}
	view := learnedView{show.SchemaVersion, l.told, l.wrong, l.updates, from.sha256, objects.Digest(data), out}
	if a.flags.output == "json" {
		return a.printLine(view)
	}
	table := terminal.Table{}
	table.Row("told", fmt.Sprintf("%s, %d of them predicted wrongly", protocol.Counted(l.told, "record"), l.wrong))
	table.Row("updates", fmt.Sprint(l.updates))
	table.Row("from", view.From)
	table.Row("model", view.Model)
	table.Row("file", out)
	table.Write(a.out)
	return nil
}
