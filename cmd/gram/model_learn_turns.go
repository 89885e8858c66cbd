package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
)

// converse reads a record and its label in turns. On a terminal, a person who mistypes may try again; elsewhere the
// first bad line ends it.
func converse(ctx context.Context, a *app, l *lesson) error {
	next, stop := iter.Pull2(records.Lines(a.in))
	defer stop()
	t := turns{a: a, lesson: l, next: next, prompts: terminal.IsTerminal(a.in)}
	return t.all(ctx)
}

// turns is a conversation.
type turns struct {
	a       *app
	lesson  *lesson
	next    func() (string, error, bool)
	prompts bool
	line    int
}

func (t *turns) all(ctx context.Context) error {
	for ctx.Err() == nil {
		record, more, err := t.ask(t.lesson.form.String())
		if err != nil || !more {
			return err
		}
		if err := t.record(record); err != nil && !t.forgiven(err) {
			return fmt.Errorf("stdin, line %d: %w", t.line, err)
		}
	}
	return ctx.Err()
}

// ask reads a line; more is false at the end.
func (t *turns) ask(what string) (line string, more bool, err error) {
	if t.prompts {
		fmt.Fprintf(t.a.err, "%s> ", what)
	}
	line, err, more = t.next()
	t.line++
	return line, more, err
}

// record predicts a record, asks for its label until there is one that the model has, and tells it.
func (t *turns) record(record string) error {
	predicted, err := t.lesson.predict(record)
	if err != nil {
		return err
	}
	if err := printPredicted(t.a, t.lesson, predicted, record); err != nil {
		return err
	}
	for {
		label, more, err := t.ask("label")
		switch {
		case err != nil || !more || label == "-":
			return err
		case label == "" && !predicted.Rejected:
			label = t.lesson.predicted(predicted)
		}
		if err := t.lesson.tell(predicted, label); err == nil || !t.forgiven(err) {
			return err
		}
	}
}

// forgiven shows an error to a person, who can type anew.
func (t *turns) forgiven(err error) bool {
	if t.prompts {
		fmt.Fprintln(t.a.err, terminal.Clean(err.Error()))
	}
	return t.prompts
}

// printPredicted prints what the model says before it is told better.
func printPredicted(a *app, l *lesson, predicted jobs.Outcome, record string) error {
	if a.flags.output == "json" {
		return a.printLine(records.OfOutcome(predicted, l.answers, l.form, record, 1))
	}
	_, err := fmt.Fprintln(a.out, strings.TrimRight(terminal.Clean(records.OutcomeText(predicted, l.answers)), " "))
	return err
}
