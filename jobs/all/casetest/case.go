// Package casetest holds the one table of cases that the suites over all kinds range over: golden models, phases,
// shards, degenerate data sets, memory, and the matrix of clusters. A new kind is a row or two here.
package casetest

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs/all"
)

// Case is a job of one kind. Each field after Params is the case's part in one suite, and zero if it has none.
type Case struct {
	Name         string // of one case only; also that of its folder in testdata/models
	Kind, Params string
	// Golden reports that testdata/models holds a model of this case, trained on the data set of Phases.
	Golden bool
	// Phases is the data set over which every phase is given arrays that do not fit, and must write to none.
	Phases *Data
	// Hashed is the SHA-256, in hex, of the model of Mails, under every kernel set.
	Hashed string
	// Shards are data sets whose model is the same, however they are cut into shards and files.
	Shards []*Data
	// Blocks reports that another block_records, or number of blocks, gives another model.
	Blocks bool
	// Named gives the reason why another cut into files gives another model: what goes by the names of files. Once
	// records have names of their own, no case needs one.
	Named string
	// Degenerate is for kinds that learn from vectors with labels.
	Degenerate *Learner
	// Memory is a data set of several times a worker's memory.
	Memory *Large
	// Matrix is a job on clusters of processes.
	Matrix *Clustered
	// Without gives the reason why the kind has no case in a suite.
	Without map[*Suite]string
}

// Learner describes what a case needs of a degenerate data set, and what becomes of it.
type Learner struct {
	Queries    bool // reads a second data set
	Predicts   bool // leaves a model for jobs of kind Predict
	Classifies bool // finds two classes by itself, whatever the shards
}

// Large is a job over files that do not fit into memory.
type Large struct {
	Input, Queries *File
	Model          string // name of an earlier case
	Fault          string // code of the fault of a job whose model would be the data set
}

// Suite is a test that ranges over the cases that have a part in it.
type Suite struct {
	Name string
	has  func(Case) bool
	some bool // not of every kind
}

// The suites.
var (
	Golden = &Suite{Name: "golden", has: func(c Case) bool { return c.Golden }}
	Phases = &Suite{Name: "phases", has: func(c Case) bool { return c.Phases != nil }}
	Hashed = &Suite{Name: "hashed", has: func(c Case) bool { return c.Hashed != "" }, some: true}
	Shards = &Suite{Name: "shards", has: func(c Case) bool { return c.Shards != nil }}

	Degenerate = &Suite{Name: "degenerate", has: func(c Case) bool { return c.Degenerate != nil }}
	Memory     = &Suite{Name: "memory", has: func(c Case) bool { return c.Memory != nil }}
	Matrix     = &Suite{Name: "matrix", has: func(c Case) bool { return c.Matrix != nil }}
)

var suites = []*Suite{Golden, Phases, Hashed, Shards, Degenerate, Memory, Matrix}

// table returns every case. Models come before the jobs that begin from them.
func table() []Case {
	return slices.Concat(gaussians(), bayes(), clusters(), clusterings(), kernels(), linear(), machines(),
		givenMachines(), means(), neighbors(), hashed(), moreNeighbors(), graphs(), novelties(), perceptrons(),
		predictions())
}

// Of returns the cases of a suite, in the table's order. It fails the test if a kind has neither a case nor a reason.
func Of(t testing.TB, suite *Suite) []Case {
	t.Helper()
	cases := table()
	if !suite.some {
		for _, kind := range all.Kinds() {
			if what := missing(cases, suite, kind.Name); what != "" {
				t.Error(what)
			}
		}
	}
	return slices.DeleteFunc(cases, func(c Case) bool { return !suite.has(c) })
}

// missing describes what a suite lacks of a kind; it is empty if there is a case, or a reason for none.
func missing(cases []Case, suite *Suite, kind string) string {
	has, why := false, ""
	for _, c := range cases {
		if c.Kind == kind {
			has = has || suite.has(c)
			why += c.Without[suite]
		}
	}
	switch {
	case has && why != "":
		return "kind " + kind + " has a case in suite " + suite.Name + ", and a reason for none: remove the reason"
	case !has && why == "":
		return "kind " + kind + " has no case in suite " + suite.Name +
			": give one of its cases in jobs/all/casetest a part in it, or a reason in Without"
	}
	return ""
}
