package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/cmd/gram/internal/wordlist"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/linearmodel"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/worker"
	"github.com/spf13/cobra"
)

// maxListBytes bounds a list of words.
const maxListBytes = 1 << 30

// importing is what `model import` is asked for.
type importing struct {
	kind, format, threshold, out string
	header                       bool
	labels                       []string
	text                         vocabulary.Params
}

func modelImportCommand(a *app) *cobra.Command {
	i := importing{text: vocabulary.DefaultParams()}
	cmd := &cobra.Command{
		Use:   "import FILE|URI --threshold T --labels NEG,POS --out FILE",
		Short: "Make a model of the scores of words that you give",
		Example: `  gram model import scores.csv --header --threshold 0.5 --labels neg,pos \
    --out model.safetensors
  gram model import scores.tsv --threshold 0 --labels neg,pos --ngram-max 2 \
    --out model.safetensors
  gram model classify --model ./model.safetensors 'not a bad film'`,
		Long: `A line of the list is a word and its score: csv, or tsv without quotes. The
score of a text is the sum of the scores of its words, each as often as it
occurs; words that are not listed count nothing. A text above the threshold has
the second label, all others have the first.

The model is a LinearModel that is marked as imported: nothing was learned, so
nothing is proved of it. ` + "`gram model classify`" + `, jobs of kind Predict, and
jobs that go on training from spec.model take it. The same list and flags make
the same bytes; the order of lines does not matter.

The flags of words mean what they do in spec.params.features.text. A word that
no text can have, such as one in upper case with --lowercase, is an error, and
so are a word with two scores and a number that float64 does not keep. Sums are
exact if all scores are whole numbers or, say, quarters; with scores such as 0.1
the sum is rounded: a text just at the threshold may have either label, and so
may one whose large scores cancel.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return importModel(cmd.Context(), a, i, args[0]) },
	}
	i.flags(cmd)
	return cmd
}

func (i *importing) flags(cmd *cobra.Command) {
	set, p := cmd.Flags(), &i.text
	set.StringVar(&i.kind, "kind", linearmodel.KindName, "`kind` of the model")
	set.StringVar(&i.threshold, "threshold", "", "`number` that the score of a positive text is above")
	set.StringSliceVar(&i.labels, "labels", nil, "both `labels`: of texts up to the threshold, then of those above")
	set.StringVar(&i.out, "out", "", "`file` for the model")
	set.StringVar(&i.format, "format", "", "csv or tsv (default by the `name` of the list)")
	set.BoolVar(&i.header, "header", false, "the first line names the columns")
	set.BoolVar(&p.Lowercase, "lowercase", p.Lowercase, "fold the case of texts")
	set.StringVar((*string)(&p.Analyzer), "analyzer", text.Word, "`unit` that terms are made of: word, char or char_wb")
	set.IntVar(&p.NgramMin, "ngram-min", p.NgramMin, "fewest `words` or characters of a term")
	set.IntVar(&p.NgramMax, "ngram-max", p.NgramMax, "most `words` or characters of a term")
	set.StringSliceVar(&p.StopWords, "stop-words", nil, "`words` that are left out of texts; may be repeated")
	set.StringVar(&p.TokenPattern, "token-pattern", "", "regular `expression` of words")
	for _, name := range []string{"threshold", "labels", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
}

func importModel(ctx context.Context, a *app, i importing, from string) error {
	format, err := i.check(from)
	if err != nil {
		return err
	}
	path, err := writable(a, i.out)
	if err != nil {
		return err
	}
	uri := specfile.AbsoluteURI(from, a.dir)
	if sameFile(path, strings.TrimPrefix(uri, "file://")) {
		return &exit.Failure{Code: exit.Usage, What: "--out names the list itself, which the model would replace",
			Hint: "Name another file, such as scores.safetensors."}
	}
	list, err := objects.Read(ctx, uri, maxListBytes, "")
	if err != nil {
		return err
	}
	scores, err := i.scores(list, format)
	if err != nil {
		return importFailure(from, err)
	}
	model, err := scores.Import()
	if err != nil {
		return importFailure(from, err)
	}
	data := model.Encode()
	if err := files.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}); err != nil {
		return err
	}
	return a.showImported(importedView{show.SchemaVersion, linearmodel.KindName, len(scores.Words), scores.Threshold,
		i.labels, scores.Exact(), scores.SHA256, objects.Digest(data), path})
}

// sameFile reports whether two paths lead to one file that is there.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// check refuses flags that make no model, and returns the format of the list.
func (i *importing) check(from string) (wordlist.Format, error) {
	name := i.format
	if name == "" {
		name = from
	}
	format, ok := wordlist.FormatOf(name)
	format.Header = i.header
	switch {
	case i.kind != linearmodel.KindName:
		return format, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("no model of kind %.80q is imported", i.kind),
			Hint: "Scores of words make a model of kind " + linearmodel.KindName + "."}
	case !ok:
		return format, &exit.Failure{Code: exit.Usage,
			What: fmt.Sprintf("whether %.80q is csv or tsv is not known", name),
			Hint: "Say --format csv or --format tsv."}
	case len(i.labels) != 2:
		return format, &exit.Failure{Code: exit.Usage,
			What: fmt.Sprintf("--labels wants two labels, not %d", len(i.labels)),
			Hint: "Such as --labels neg,pos: of texts up to the threshold, then of those above it."}
	}
	return format, nil
}

// scores reads a list and checks each of its words.
func (i *importing) scores(list []byte, format wordlist.Format) (s linearmodel.WordScores, err error) {
	s = linearmodel.WordScores{Negative: i.labels[0], Positive: i.labels[1], Text: i.text, SHA256: objects.Digest(list)}
	if err := s.Text.Analyzer.UnmarshalText([]byte(i.text.Analyzer)); err != nil {
		return s, err
	}
	if s.Threshold, err = wordlist.Number(i.threshold); err != nil {
		return s, &exit.Failure{Code: exit.Usage, What: "--threshold: " + err.Error()}
	}
	tokenizer, err := s.Text.Tokenizer()
	if err != nil {
		return s, err
	}
	entries, err := wordlist.Read(list, format)
	if err != nil {
		return s, err
	}
	for n, e := range entries {
		s.Words, s.Scores = append(s.Words, e.Word), append(s.Scores, e.Score)
		err := s.CheckWord(tokenizer, n)
		if fault, ok := errors.AsType[*protocol.Fault](err); ok {
			return s, fault.At(e.Line, 0)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// importFailure names the list in an error about it. What flags are wrong is one of usage.
func importFailure(from string, err error) error {
	fault, ok := errors.AsType[*protocol.Fault](err)
	switch {
	case !ok:
		return err
	case fault.Code == protocol.CodeSpecInvalid:
		return exit.WithoutSpec(err, exit.Usage)
	}
	return fault.In(from)
}

// importedView says what was imported.
type importedView struct {
	SchemaVersion int      `json:"schema_version"`
	Kind          string   `json:"kind"`
	Words         int      `json:"words"`
	Threshold     float64  `json:"threshold"`
	Labels        []string `json:"labels"`
	Exact         bool     `json:"exact"`
	From          string   `json:"from_sha256"`
	Model         string   `json:"model_sha256"`
	File          string   `json:"file"`
}

func (a *app) showImported(v importedView) error {
	if a.flags.output == "json" {
		return a.printLine(v)
	}
	sums := "exact"
	if !v.Exact {
		sums = "rounded to float64: a text just at the threshold may have either label"
	}
	table := terminal.Table{}
	table.Row("kind", v.Kind+", imported, not learned")
	table.Row("words", strconv.Itoa(v.Words))
	table.Row("above", strconv.FormatFloat(v.Threshold, 'g', -1, 64)+" is "+v.Labels[1]+", else "+v.Labels[0])
	table.Row("sums", sums)
	table.Row("from", v.From)
	table.Row("model", v.Model)
	table.Row("file", v.File)
	table.Write(a.out)
	return nil
}

// mustHaveJob refuses the folder of an imported model. What else is wrong with a folder, the caller finds.
func mustHaveJob(ctx context.Context, folder string) error {
	_, err := objects.Read(ctx, folder+worker.ProvenanceFile, objects.MaxReportBytes, "")
	if !errors.Is(err, objstore.ErrNotFound) {
		return nil
	}
	data, err := objects.Read(ctx, folder+worker.ModelFile, maxModelBytes, "")
	if err != nil {
		return nil
	}
	arrays, err := jobs.Decode(data)
	if _, imported := arrays["features.imported"]; err != nil || !imported {
		return nil
	}
	return &exit.Failure{Code: exit.Missing, What: folder + worker.ModelFile + " was imported: no job made it, so there is " +
		"nothing to verify, and nothing that a signature of ours could attest",
		Hint: "Compare its SHA-256 with that of another import of the list, or sign the file with other tools."}
}
