package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// tuned are params of every sort.
type tuned struct {
	K        int                `json:"k"`
	Tol      float64            `json:"tol"`
	Init     string             `json:"init"`
	Block    protocol.ByteSize  `json:"block"`
	Given    [][]float64        `json:"given"`
	Scale    string             `json:"scale"`
	Features features           `json:"features"`
	Costs    map[string]float64 `json:"costs"`
	Twice    int                `json:"twice"`
}

// Complete writes in a default that is no constant.
func (p *tuned) Complete() {
	if p.Twice == 0 {
		p.Twice = 2 * p.K
	}
}

type features struct {
	Text words `json:"text"`
	Bins int   `json:"bins"`
}

type words struct {
	MinDF int `json:"min_df"`
}

func (p *tuned) Parameters() []params.Parameter {
	return []params.Parameter{
		params.Whole("k", &p.K, 8, 1, 100), params.Number("tol", &p.Tol, 1e-4, "[0, 1)"),
		params.Choice("init", &p.Init, "random", "random", "given"), params.Bytes("block", &p.Block, 8<<20),
		params.Value("given", &p.Given), params.Text("scale", &p.Scale), params.Section("features", &p.Features),
		params.Value("costs", &p.Costs), params.Whole("twice", &p.Twice, 0, 1, 1000),
	}
}

func (p *features) Parameters() []params.Parameter {
	return []params.Parameter{params.Section("text", &p.Text), params.Whole("bins", &p.Bins, 4, 1, 9)}
}

func (p *words) Parameters() []params.Parameter {
	return []params.Parameter{params.Whole("min_df", &p.MinDF, 2, 1, 100)}
}

// parted writes what ParamsOf finds on one line.
func parted(t *testing.T, kind jobs.Kind, given string, in protocol.Input) string {
	t.Helper()
	full := json.RawMessage(given)
	if kind.Params.Defaults != nil {
		var err error
		if full, err = kind.Defaults(full); err != nil {
			t.Fatal(err)
		}
	}
	set, defaults := ParamsOf(kind, protocol.JobSpec{Spec: protocol.Spec{Input: in, Params: full}})
	var words []string
	for _, p := range set {
		words = append(words, strings.TrimSpace(p.Name+" "+p.Value+" "+p.Exact))
	}
	text := strings.Join(words, ", ") + " |"
	for _, p := range defaults {
		text += " " + p.Name
	}
	return text
}

func TestParamsThatAreSet(t *testing.T) {
	kind := jobs.Kind{Params: params.Of[tuned]()}
	csv, mail := protocol.Input{Format: "csv"}, protocol.Input{Format: "mail"}
	const rest = "block costs features.bins given init k scale tol twice"
	for _, c := range []struct {
		given, want string
		in          protocol.Input
	}{
		{`{}`, " | " + rest, csv},
		{`{}`, " | block costs features.bins features.text.min_df given init k scale tol twice", mail},
		{`{"k": 10, "tol": 1e-4}`, "k 10 | block costs features.bins given init scale tol twice", csv},
		{`{"given": [[1, 2.5]], "init": "given"}`,
			"given [[1,2.5]], init given | block costs features.bins k scale tol twice", csv},
		{`{"block": 3441050}`, "block 3.282 MiB 3,441,050 bytes | costs features.bins given init k scale tol twice",
			csv},
		{`{"features": {"text": {"min_df": 1}}}`, " | " + rest, csv},
		{`{"features": {"text": {"min_df": 1}}}`, "features.text.min_df 1 | " + rest, mail},
		{`{"costs": {"a.b": 2}}`, `costs {"a.b":2} | block features.bins given init k scale tol twice`, csv},
	} {
		if got := parted(t, kind, c.given, c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.given, got, c.want)
		}
	}
}

// Of a kind that is not known, all params count as set; what is no object has none.
func TestParamsOfAnUnknownKind(t *testing.T) {
	in := protocol.Input{Format: "csv"}
	if got := parted(t, jobs.Kind{}, `{"k":10,"features":{"scale":"none"}}`, in); got != "features.scale none, k 10 |" {
		t.Errorf("%q", got)
	}
	if got := parted(t, jobs.Kind{}, `{"k":`, in); got != " |" {
		t.Errorf("%q", got)
	}
}

// Values and lists of any length leave a page of bounded size.
func TestManyParamsAreBounded(t *testing.T) {
	long := map[string]any{}
	for i := range 3000 {
		long[fmt.Sprintf("p%04d", i)] = strings.Repeat("é", 3000)
	}
	data, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	set, _ := ParamsOf(jobs.Kind{}, protocol.JobSpec{Spec: protocol.Spec{Params: data}})
	if len(set) != maxParams || len([]rune(set[0].Value)) != maxParamText {
		t.Errorf("%d params, the first of %d runes", len(set), len([]rune(set[0].Value)))
	}
}

func TestTitleHasWhatIsSet(t *testing.T) {
	set := []Param{{Name: "k", Value: "10"}, {Name: "given", Value: strings.Repeat("1", 100)},
		{Name: "tol", Value: "0"}}
	if got := titled(set); got != "k 10, tol 0" {
		t.Errorf("%q", got)
	}
	for i := range 9 {
		set = append(set, Param{Name: fmt.Sprint("p", i), Value: "1"})
	}
	if got := titled(set); got != "k 10, tol 0, p0 1, p1 1, p2 1, …" {
		t.Errorf("%q", got)
	}
}
