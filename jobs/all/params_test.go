package all_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Every kind refuses a name that it does not have, and one in another case, by its full path and with its fields.
func TestEveryKindReadsItsParamsStrictly(t *testing.T) {
	for _, kind := range all.Kinds() {
		refusal := func(params string) *protocol.Fault {
			t.Helper()
			_, err := kind.Defaults([]byte(params))
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
				t.Fatalf("%s: %s: %v", kind.Name, params, err)
			}
			return fault
		}
		fault := refusal(`{"no_such": 1}`)
		list, ok := strings.CutPrefix(fault.Hint, "The fields in spec.params are ")
		if !ok || fault.What != `no field "no_such" in spec.params` || kind.Params.Zero == nil {
			t.Errorf("%s: %v", kind.Name, fault)
		}
		names := strings.Split(strings.TrimSuffix(list, "."), ", ")
		for _, name := range names {
			other := strings.ToUpper(name[:1]) + name[1:]
			if other == name { // C, as all call it
				other = strings.ToLower(name)
			}
			want := fmt.Sprintf("no field %q in spec.params; did you mean %q?", other, name)
			if fault := refusal(fmt.Sprintf(`{%q: 1}`, other)); fault.What != want {
				t.Errorf("%s: %s, want %s", kind.Name, fault.What, want)
			}
			want = "spec.params." + name + " stands twice; a name may stand once in an object"
			if fault := refusal(fmt.Sprintf(`{%[1]q: null, %[1]q: null}`, name)); fault.What != want {
				t.Errorf("%s: %s, want %s", kind.Name, fault.What, want)
			}
		}
	}
}

// A fault of a parameter's value has the path of the group that it is in.
func TestFaultsOfParamsHaveTheirPath(t *testing.T) {
	for _, c := range []struct{ kind, params, want string }{
		{"KMeans", `{"k":2,"scale":"x"}`, "spec.params: scale is one of"},
		{"KMeans", `{"k":0}`, "spec.params: k, the number of clusters"},
		{"KMeans", `{"k":2,"text":{"min_df":-1}}`, "spec.params.text: min_df is"},
		{"Perceptron", `{"features":{"scale":"x"}}`, "spec.params.features: scale is one of"},
		{"Perceptron", `{"features":{"hashing":{"bits":99}}}`, "spec.params.features.hashing: "},
		{"GaussianNaiveBayes", `{"features":{"scale":"x"}}`, "spec.params.features: scale is one of"},
		{"KernelPerceptron", `{"features":{"scale":"x"}}`, "spec.params.features: scale is one of"},
		{"KernelMatrix", `{"features":{"text":{"max_df":-1}}}`, "spec.params.features.text: max_df is"},
		{"NearestNeighbors", `{"features":{"scale":"x"}}`, "spec.params.features: scale is one of"},
		{"NearestNeighbors", `{"projection":{"Eps":0.1}}`,
			`spec.params.projection: no field "Eps"; did you mean "eps"?`},
		{"NaiveBayes", `{"text":{"min_df":-1}}`, "spec.params.text: min_df is"},
		{"NearestMean", `{"features":{"scale":"x"}}`, "spec.params.features: scale is one of"},
	} {
		kind, err := all.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		var fault *protocol.Fault
		if _, err := kind.Defaults([]byte(c.params)); !errors.As(err, &fault) ||
			!strings.HasPrefix(fault.What, c.want) {
			t.Errorf("%s %s: %v, want %s", c.kind, c.params, err, c.want)
		}
	}
}

// Every field that a kind reads is in its reference, or rejected whatever it holds.
func TestEveryParameterIsDeclared(t *testing.T) {
	for _, kind := range all.Kinds() {
		declared := map[string]bool{}
		for _, row := range params.Rows(kind.Params.List()) {
			for name := row.Name; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
				declared[name] = true
			}
			if row.Doc == "" || !strings.HasSuffix(row.Doc, ".") {
				t.Errorf("%s: the reference of %s is no sentence", kind.Name, row.Name)
			}
		}
		read := map[string]bool{}
		for _, name := range protocol.FieldsBelow(kind.Params.Zero) {
			read[name] = true
			if !declared[name] && !rejected(kind, strings.Split(name, ".")) {
				t.Errorf("%s: the reference does not have %s", kind.Name, name)
			}
		}
		for name := range declared {
			if !read[name] {
				t.Errorf("%s: nothing reads %s", kind.Name, name)
			}
		}
	}
}

// rejected reports whether a kind rejects a field that is an empty object.
func rejected(kind jobs.Kind, path []string) bool {
	given := "{}"
	for _, name := range slices.Backward(path) {
		given = fmt.Sprintf("{%q: %s}", name, given)
	}
	_, err := kind.Defaults([]byte(given))
	return err != nil
}

// Names of scikit-learn are answered with ours, or with the reason why Gram has no such parameter.
func TestFamiliarNamesAreAnswered(t *testing.T) {
	for _, c := range []struct{ kind, name, want string }{
		{"KMeans", "n_clusters", `here it is called "k"`},
		{"KMeans", "max_iter", `here it is called "max_rounds"`},
		{"KMeans", "n_init", `here it is called "restarts"`},
		{"Perceptron", "max_iter", `here it is called "epochs"`},
		{"Perceptron", "fit_intercept", `here it is called "bias"`},
		{"Perceptron", "class_weight", `here it is called "class_weights"`},
		{"Perceptron", "average", `here it is called "form"`},
		{"Perceptron", "alpha", "NaiveBayes alone adds to its counts"},
		{"Perceptron", "eta0", "the size of a step"},
		{"Perceptron", "penalty", "LinearModel alone has one"},
		{"NearestNeighbors", "n_neighbors", `here it is called "k"`},
		{"NearestNeighbors", "n_jobs", "spec.run.max_workers"},
		{"KernelNearestMean", "coef0", `here it is called "offset"`},
		{"KernelPerceptron", "C", "LinearModel and SupportVectorMachine have a cost of slack"},
		{"GaussianNaiveBayes", "priors", `here it is called "prior"`},
		{"NaiveBayes", "fit_prior", `here it is called "prior"`},
		{"NaiveBayes", "random_state", "did you mean spec.repro.seed?"},
	} {
		kind, err := all.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		_, err = kind.Defaults(fmt.Appendf(nil, `{%q: 1}`, c.name))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.kind, c.name, err, c.want)
		}
	}
}

// The schema allows every default and names every parameter.
func TestSchemaHasEveryParameter(t *testing.T) {
	text, err := json.Marshal(all.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any
		AllOf      []struct {
			If, Then struct {
				Properties map[string]struct {
					Const      string
					Properties map[string]struct {
						Properties map[string]any
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	kinds := all.Kinds()
	if len(schema.AllOf) != len(kinds) || schema.Properties["metadata"] == nil {
		t.Fatalf("%d kinds of %d", len(schema.AllOf), len(kinds))
	}
	for i, rule := range schema.AllOf {
		var defaults map[string]any
		written, err := kinds[i].Defaults([]byte(`{}`))
		if kinds[i].Name == "KMeans" {
			written, err = kinds[i].Defaults([]byte(`{"k": 2}`))
		}
		if err != nil || json.Unmarshal(written, &defaults) != nil ||
			rule.If.Properties["kind"].Const != kinds[i].Name {
			t.Fatalf("%s: %v", kinds[i].Name, err)
		}
		for name := range defaults {
			if rule.Then.Properties["spec"].Properties["params"].Properties[name] == nil {
				t.Errorf("%s: the schema lacks %s", kinds[i].Name, name)
			}
		}
	}
}
