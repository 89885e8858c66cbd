package casetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Run tells how a case is run in memory. The zero values of Shards, Ops and Wrap are two shards, the generic kernels
// and the algorithm itself.
type Run struct {
	Data   *Data
	Shards int
	Files  bool // each shard is a file of its own
	Block  int  // block_records or blocks, of a kind that has them; 0 for the default
	Ops    *kernelops.Set
	Wrap   func(jobs.Algorithm) jobs.Algorithm
	Test   float64 // share of the records that the model is judged on
	Folds  int     // of the records; 0 for none
	By     string  // what they, or the test records, are spread evenly by
	More   string  // further fields of the spec, each followed by a comma
}

// Train runs the job and returns its model. A job of kind Predict begins from a model of nearest means; a job that
// keeps no base decides the records asked.
func (c Case) Train(t testing.TB, r Run) jobs.Arrays {
	t.Helper()
	return c.run(t, r).Model
}

// Judged runs the job and returns its metrics. A job of kind Predict takes no share of test records.
func (c Case) Judged(t testing.TB, r Run) []jobs.Metric {
	t.Helper()
	return c.run(t, r).Metrics
}

func (c Case) run(t testing.TB, r Run) jobstest.Result {
	t.Helper()
	records, asked := r.Data.Records(t)
	more := r.More
	var options []jobstest.Option
	if c.Kind == predict.KindName {
		more, r.Test = more+`"model":"file:///m/model.safetensors",`, 0
		options = append(options, jobstest.WithModel(
			Case{Name: c.Name, Kind: "NearestMean", Params: `{}`}.Train(t, Run{Data: r.Data})))
	}
	if strings.Contains(c.Params, `"store_base":false`) && asked != nil {
		more += fmt.Sprintf(`"queries":{"uri":"file:///queries/",%s},`, r.Data.Format)
		options = append(options, jobstest.WithQueries(jobstest.Deal(asked, 2)))
	}
	if r.Block > 0 {
		c.Params, _ = c.inBlocks(t, r.Block)
	}
	format := r.Data.Format
	if r.Test > 0 || r.Folds > 0 {
		format += fmt.Sprintf(`,"split":{"test":%v,"folds":%d,"by":%q}`, r.Test, r.Folds, r.By)
	}
	spec, algorithm := c.algorithm(t, format, more)
	if r.Wrap != nil {
		algorithm = r.Wrap(algorithm)
	}
	ops, n := r.Ops, r.Shards
	if ops == nil {
		ops = kernelops.Generic()
	}
	if n == 0 {
		n = 2
	}
	shards := jobstest.Shards(jobstest.Deal(records, n), 8)
	if r.Files {
		shards = jobstest.Files(jobstest.Deal(records, n), 8)
	}
	trained, err := jobstest.Run(t.Context(), algorithm, spec, shards, ops, jobstest.Grouping{}, options...)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return trained
}

// algorithm makes the algorithm of a spec with more fields.
func (c Case) algorithm(t testing.TB, format, more string) (protocol.JobSpec, jobs.Algorithm) {
	t.Helper()
	spec, err := protocol.ParseSpec(fmt.Appendf(nil,
		`{"apiVersion":"v1","kind":%q,"metadata":{},"spec":{"input":{"uri":"file:///in/",%s},%s
		"output":{},"params":%s,"repro":{"seed":7},"run":{}}}`, c.Kind, format, more, c.Params))
	if err == nil {
		spec, err = all.Validate(spec)
	}
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	kind, err := all.Lookup(spec.Kind)
	if err != nil {
		t.Fatal(err)
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return spec, algorithm
}

// InBlocks reports whether the kind goes by logical blocks.
func (c Case) InBlocks(t testing.TB) bool {
	t.Helper()
	_, ok := c.inBlocks(t, 1)
	return ok
}

// inBlocks gives the parameter that says what a block is another value; none where the kind has none.
func (c Case) inBlocks(t testing.TB, n int) (string, bool) {
	t.Helper()
	kind, err := all.Lookup(c.Kind)
	if err != nil {
		t.Fatal(err)
	}
	rest := strings.TrimPrefix(c.Params, "{")
	if rest != "}" {
		rest = "," + rest
	}
	for _, name := range []string{"block_records", "blocks"} {
		params := fmt.Sprintf(`{%q:%d%s`, name, n, rest)
		if _, err := kind.Defaults(json.RawMessage(params)); err == nil {
			return params, true
		}
	}
	return c.Params, false
}
