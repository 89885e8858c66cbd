package params_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// outer has a parameter of each type.
type outer struct {
	Form    string              `json:"form"`
	Rule    string              `json:"rule,omitempty"`
	Rounds  int                 `json:"rounds"`
	Tol     float64             `json:"tol"`
	Deep    bool                `json:"deep"`
	K       *int                `json:"k,omitempty"`
	Most    protocol.ByteSize   `json:"most"`
	Weights params.ClassWeights `json:"class_weights,omitempty"`
	Inner   *inner              `json:"inner,omitempty"`
	Other   *inner              `json:"other,omitempty"`
}

type inner struct {
	Share float64 `json:"share"`
}

func (p *inner) Parameters() []params.Parameter {
	return []params.Parameter{params.Number("share", &p.Share, 0.5, "(0, 1]").Says("A share.")}
}

func (p *inner) Check() error {
	if p.Share == 0.25 {
		return protocol.SpecFault("share is no quarter")
	}
	return nil
}

func (p *outer) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Choice("form", &p.Form, "plain", "plain", "voted").Says("The form.").From("Page 1."),
		params.Choice("rule", &p.Rule, "", "scott", "silverman").Missing("scott"),
		params.Whole("rounds", &p.Rounds, 3, 1, 9),
		params.Number("tol", &p.Tol, 0, "[0, 1)"),
		params.Flag("deep", &p.Deep, true),
		params.Optional("k", &p.K).Within("1 to 9"),
		params.Bytes("most", &p.Most, 64),
		p.Weights.Parameter(),
		params.SectionAt("inner", &p.Inner),
		params.OptionalSection("other", &p.Other).Says("Another."),
	}
}

func (p *outer) Complete() {
	if p.Rule == "" {
		p.Rule = "scott"
	}
}

func (p *outer) Check() error {
	if p.Deep && p.Rounds == 9 {
		return protocol.SpecFault("deep and 9 rounds exclude each other")
	}
	return nil
}

func TestDefaultsAreWrittenIn(t *testing.T) {
	for given, want := range map[string]string{
		``: `{"form":"plain","rule":"scott","rounds":3,"tol":0,"deep":true,"most":64,"inner":{"share":0.5}}`,
		`{"rounds":9,"deep":false,"k":2,"other":{"share":1},"inner":null,"class_weights":{"a":2}}`: `{"form":"plain",` +
			`"rule":"scott","rounds":9,"tol":0,"deep":false,"k":2,"most":64,` +
			`"class_weights":{"a":2},"other":{"share":1}}`,
	} {
		got, err := params.Of[outer]().Defaults([]byte(given))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v, want %s", given, got, err, want)
		}
	}
}

func TestWhatIsRejected(t *testing.T) {
	for given, want := range map[string]string{
		`{"form":"votes"}`:          `spec.params: form is one of ["plain" "voted"], not "votes". Did you mean "voted"?`,
		`{"form":""}`:               `spec.params: form is one of ["plain" "voted"], not ""`,
		`{"rule":"x"}`:              `spec.params: rule is one of ["scott" "silverman"], not "x"`,
		`{"rounds":0}`:              `spec.params: rounds is from 1 to 9, not 0`,
		`{"rounds":10}`:             `spec.params: rounds is from 1 to 9, not 10`,
		`{"rounds":9}`:              `spec.params: deep and 9 rounds exclude each other`,
		`{"tol":1}`:                 `spec.params: tol is in [0, 1), not 1`,
		`{"tol":-1}`:                `spec.params: tol is in [0, 1), not -1`,
		`{"most":0}`:                `spec.params: most is above 0, not 0`,
		`{"class_weights":{"a":0}}`: `spec.params.class_weights: the weight of "a" is from 1e-06 to 1e+06, not 0`,
		`{"inner":{"share":0}}`:     `spec.params.inner: share is in (0, 1], not 0`,
		`{"inner":{"share":0.25}}`:  `spec.params.inner: share is no quarter`,
		`{"other":{"share":2}}`:     `spec.params.other: share is in (0, 1], not 2`,
	} {
		_, err := params.Parse[outer]([]byte(given))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Class != protocol.ClassInput || err.Error() != "SPEC_INVALID: "+want {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

// A path is put before a fault once, in a copy: what other callers hold does not change.
func TestPathOfFault(t *testing.T) {
	row := protocol.SpecFault("row 1: not a number")
	for range 2 {
		if err := params.In("spec.params", row); err.Error() != "SPEC_INVALID: spec.params: row 1: not a number" {
			t.Error(err)
		}
	}
	if other := errors.New("other"); params.In("spec.params", other) != other || params.In("spec.params", nil) != nil {
		t.Error("another error changed")
	}
}

func TestNoNumberIsInNoInterval(t *testing.T) {
	p := outer{Form: "plain", Rounds: 3, Tol: math.NaN(), Most: 1}
	if err := params.Check(&p); err == nil {
		t.Error("NaN passed")
	}
}

func TestWeightsByLabel(t *testing.T) {
	w := params.ClassWeights{"b": 3}
	if got, err := w.By([]string{"a", "b"}); err != nil || got[0] != 1 || got[1] != 3 {
		t.Error(got, err)
	}
	if got, err := w.Costs(0.5, []string{"a", "b"}); err != nil || got[0] != 0.5 || got[1] != 1.5 {
		t.Error(got, err)
	}
	if _, err := w.Costs(2, []string{"a"}); err == nil {
		t.Error("the costs of an unknown label passed")
	}
	if _, err := w.By([]string{"a", "bb"}); err == nil || err.Error() !=
		`SPEC_INVALID: spec.params: class_weights name the label "b", which no training record has` {
		t.Error(err)
	}
}

func TestReference(t *testing.T) {
	rows := params.Rows(params.Of[outer]().List())
	want := map[string]params.Row{
		"form":        {"form", "text", "plain", "plain, voted", "The form.", "Page 1."},
		"rule":        {"rule", "text", "scott", "scott, silverman", "", ""},
		"rounds":      {"rounds", "whole number", "3", "1 to 9", "", ""},
		"tol":         {"tol", "number", "0", "[0, 1)", "", ""},
		"k":           {"k", "whole number", "", "1 to 9", "", ""},
		"inner.share": {"inner.share", "number", "0.5", "(0, 1]", "A share.", ""},
		"other":       {"other", "section", "none", "", "Another.", ""},
	}
	seen := 0
	for _, r := range rows {
		if w, ok := want[r.Name]; ok {
			seen++
			if r != w {
				t.Errorf("%+v, want %+v", r, w)
			}
		}
	}
	if seen != len(want) || len(rows) != 11 {
		t.Errorf("%d of %d rows, %d in all", seen, len(want), len(rows))
	}
	if got := params.Values(params.Of[outer]().List(), "form"); len(got) != 2 || got[1] != "voted" {
		t.Error(got)
	}
}
