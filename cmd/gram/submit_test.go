package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// The first two answers are lost; the job must come once, and under one id.
func TestSubmitRepeatsUnderTheSameID(t *testing.T) {
	var ids []string
	c := clientOf(t, &backend{submit: func(req *gramv1.SubmitRequest) (*gramv1.SubmitResponse, error) {
		ids = append(ids, req.GetId())
		if len(ids) < 3 {
			return nil, connect.NewError(connect.CodeUnavailable, errors.New("no leader"))
		}
		return &gramv1.SubmitResponse{Job: jobIn(req.GetId(), running), Created: true}, nil
	}})
	c.app.patience = c.app.patience * 100
	c.want(0, c.run("submit", "-f", c.writeSpec(validSpec)))
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("ids %q", ids)
	}
	if c.stdout.String() != ids[0]+"\n" {
		t.Errorf("stdout %q, want the id %q alone", c.stdout.String(), ids[0])
	}
	if !regexp.MustCompile(`^topics-of-2026-[a-z2-7]{8}$`).MatchString(ids[0]) {
		t.Errorf("id %q is not made of the name", ids[0])
	}
}

func TestSubmitSendsTheWholeSpec(t *testing.T) {
	var sent protocol.JobSpec
	c := clientOf(t, &backend{submit: func(req *gramv1.SubmitRequest) (*gramv1.SubmitResponse, error) {
		var err error
		sent, err = protocol.ParseSpec([]byte(req.GetSpecJson()))
		return &gramv1.SubmitResponse{Job: jobIn(req.GetId(), running)}, err
	}})
	c.want(0, c.run("submit", "-f", c.writeSpec(validSpec), "--id", "mine", "--set", "spec.params.alpha=0.25"))
	if want := "file://" + c.app.dir + "/texts.tsv"; sent.Spec.Input.URI != want {
		t.Errorf("input %s, want %s", sent.Spec.Input.URI, want)
	}
	if !strings.Contains(string(sent.Spec.Params), `"alpha":0.25,"form":"multinomial","prior":"learned"`) ||
		sent.Spec.Input.ShardBytes != protocol.DefaultShardBytes {
		t.Errorf("defaults are not written in: %+v", sent.Spec)
	}
	if !strings.Contains(c.stderr.String(), "was there already") {
		t.Errorf("stderr %q", c.stderr)
	}
}

func TestSubmitExplainsASpecBeforeItSends(t *testing.T) {
	for _, c := range []struct{ name, from, to, says string }{
		{"misspelt field", "format", "fromat", `did you mean "format"?`},
		{"misspelt kind", "NaiveBayes", "NaiveBayse", `Did you mean "NaiveBayes"?`},
		{"misspelt parameter", "spec: {", "spec: {params: {alhpa: 1}, ", `did you mean "alpha"?`},
		{"senseless parameter", "spec: {", "spec: {params: {alpha: -1}, ", "alpha"},
		{"missing input", "uri: ./texts.tsv, ", "", "spec.input.uri is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := clientOf(t, &backend{}) // would answer "unimplemented", exit code 1
			client.want(exit.Usage, client.run("submit", "-f",
				client.writeSpec(strings.Replace(validSpec, c.from, c.to, 1))))
			if !strings.Contains(client.stderr.String(), c.says) {
				t.Errorf("stderr lacks %q:\n%s", c.says, client.stderr)
			}
		})
	}
}
