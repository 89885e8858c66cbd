package main

import (
	"iter"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/records"
	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

// parrot says the label that it was told last, and knows two.
type parrot struct{ said string }

func (p *parrot) Predict(*dataset.Block) (jobs.Outcome, error) {
	return jobs.Outcome{Label: p.said}, nil
}
func (p *parrot) Model() jobs.Arrays { return jobs.Arrays{} }

func (p *parrot) Update(label string) (bool, error) {
	if label != "yes" && label != "no" {
		return false, protocol.InputFault(protocol.CodeBadRecord, "no label %s", label)
	}
	changed := p.said != label
	p.said = label
	return changed, nil
}

// On a terminal there are prompts, and what was mistyped can be typed again.
func TestWhoeverMistypesMayTryAgain(t *testing.T) {
	c := newClient(t)
	next, stop := iter.Pull2(records.Lines(strings.NewReader("one\nyse\nyes\ntwo\n\nthree\n-\nfour\nno\nfive\n")))
	defer stop()
	l := &lesson{learner: &parrot{said: "no"}, answers: jobs.Answers{Labels: []string{"no", "yes"}}}
	s := turns{a: c.app, lesson: l, next: next, prompts: true}
	if err := s.all(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.told != 3 || l.wrong != 2 || l.updates != 2 {
		t.Errorf("told %d, wrong %d, updates %d", l.told, l.wrong, l.updates)
	}
	if got := strings.Join(strings.Fields(c.stdout.String()), " "); got != "no yes yes yes no" {
		t.Errorf("said %q", got)
	}
	want := "text> label> BAD_RECORD: no label yse\nlabel> text> label> text> label> text> label> text> label> "
	if !strings.HasPrefix(c.stderr.String(), want) {
		t.Errorf("prompts %q", c.stderr.String())
	}
}
