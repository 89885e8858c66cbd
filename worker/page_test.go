package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// pageOf makes the page of a job whose kind has such figures.
func pageOf(t *testing.T, figures func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error)) (page string,
	facts *runReport) {
	t.Helper()
	kind := func(string) (jobs.Kind, error) { return jobs.Kind{Figures: figures}, nil }
	j := &job{id: "digits-1", w: &worker{cfg: Config{Kind: kind, Logger: slog.New(slog.DiscardHandler)}}}
	j.spec.Spec.Input.URI, j.spec.Spec.Repro.Seed = "s3://corpus/digits/", 7
	model := jobs.Arrays{}
	model.PutKind("Test", 1)
	facts = &runReport{Job: "digits-1", Kind: "Test",
		Rounds:  []origin.ReportRound{{Round: 1, Phase: "count", Leaves: 3, Seconds: 0.25}},
		Metrics: []jobs.Metric{jobs.CountMetric("records", 9)}}
	html, err := j.page(facts, &pb.JobBrief{}, model.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return string(html), facts
}

func TestPage(t *testing.T) {
	page, facts := pageOf(t, func(model jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
		if name, _, err := model.Kind(); err != nil || name != "Test" || len(metrics) != 1 {
			t.Errorf("figures of %q, %v, %v", name, metrics, err)
		}
		return []jobs.Figure{{Title: "Centers",
			Images: []jobs.Image{{Label: "0", Width: 2, Values: []float32{0, 1, 2, 3}}}}}, nil
	})
	for _, want := range []string{"digits-1", "s3://corpus/digits/", "Centers", "data:image/png", "250 ms", "records"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	data, err := facts.encode()
	if err != nil || !bytes.Contains(data, []byte(`"values": [0,1,2,3]`)) {
		t.Errorf("%s, %v", data, err)
	}
}

// A job whose figures fail has succeeded: there is a page, and it says so.
func TestFiguresThatFail(t *testing.T) {
	for name, figures := range map[string]func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error){
		"an error": func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error) { return nil, errors.New("no ink") },
		"a panic":  func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error) { panic("no ink") },
		"no JSON": func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error) {
			return []jobs.Figure{{Lines: &jobs.LineChart{Series: []jobs.Series{{X: []float64{1},
				Y: []float64{math.NaN()}}}}}}, nil
		},
		"no picture": func(jobs.Arrays, []jobs.Metric) ([]jobs.Figure, error) {
			return []jobs.Figure{{Images: []jobs.Image{{Width: 3, Values: []float32{1}}}}}, nil
		},
	} {
		page, facts := pageOf(t, figures)
		if !strings.Contains(page, "could not be made: ") || !strings.Contains(page, "records") ||
			facts.Figures != nil {
			t.Errorf("%s: figures %v, page\n%s", name, facts.Figures, page)
		}
	}
}

// A text that looks like an indented list stays as it is; lists of numbers take a line.
func TestReportKeepsTexts(t *testing.T) {
	r := &runReport{Name: "[\n 1,\n 2]",
		Metrics: []jobs.Metric{{Name: "cells", Value: json.RawMessage(`[[0,-1],[1.5e-7,2]]`)}}}
	data, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	var back runReport
	if err := json.Unmarshal(data, &back); err != nil || back.Name != r.Name {
		t.Errorf("%q, %v", back.Name, err)
	}
	if !bytes.Contains(data, []byte("[0,-1]")) || !bytes.Contains(data, []byte("[1.5e-7,2]")) {
		t.Errorf("%s", data)
	}
}

// The certificate of a model is a part of the report; without one there is no field for it, and one that fails
// leaves the job and its figures as they are.
func TestCertificate(t *testing.T) {
	for name, c := range map[string]struct {
		certify          func(jobs.Arrays) (any, error)
		want, wantInPage string
	}{
		"none":    {nil, "", ""},
		"no need": {func(jobs.Arrays) (any, error) { return nil, nil }, "", ""},
		"one": {func(jobs.Arrays) (any, error) { return map[string]bool{"holds": true}, nil }, `{"holds":true}`,
			""},
		"an error": {func(jobs.Arrays) (any, error) { return nil, errors.New("no ink") }, "",
			"could not be made: no ink"},
		"a panic": {func(jobs.Arrays) (any, error) { panic("no ink") }, "", "could not be made: panic: no ink"},
		"no JSON": {func(jobs.Arrays) (any, error) { return math.NaN(), nil }, "", "could not be made: json"},
	} {
		kind := func(string) (jobs.Kind, error) { return jobs.Kind{Certify: c.certify}, nil }
		j := &job{id: "digits-1", w: &worker{cfg: Config{Kind: kind, Logger: slog.New(slog.DiscardHandler)}}}
		model := jobs.Arrays{}
		model.PutKind("Test", 1)
		facts := &runReport{Job: "digits-1"}
		html, err := j.page(facts, &pb.JobBrief{}, model.Encode())
		if err != nil || string(facts.Certificate) != c.want || !bytes.Contains(html, []byte(c.wantInPage)) {
			t.Errorf("%s: certificate %s, %v", name, facts.Certificate, err)
		}
		if data, err := facts.encode(); err != nil || bytes.Contains(data, []byte("certificate")) != (c.want != "") {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}
