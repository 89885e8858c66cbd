package all_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/all"
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
		if !ok || fault.What != `no field "no_such" in spec.params` || kind.Params == nil {
			t.Errorf("%s: %v", kind.Name, fault)
		}
		names := strings.Split(strings.TrimSuffix(list, "."), ", ")
		for _, name := range names {
			other := strings.ToUpper(name[:1]) + name[1:]
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
		{"KMeans", `{"k":2,"scale":"x"}`, "spec.params: scale is none"},
		{"KMeans", `{"k":0}`, "spec.params: k, the number of clusters"},
		{"KMeans", `{"k":2,"text":{"min_df":-1}}`, "spec.params.text: min_df is"},
		{"Perceptron", `{"features":{"scale":"x"}}`, "spec.params.features: scale is none"},
		{"Perceptron", `{"features":{"hashing":{"bits":99}}}`, "spec.params.features.hashing: "},
		{"GaussianNaiveBayes", `{"features":{"scale":"x"}}`, "spec.params.features: scale is none"},
		{"KernelPerceptron", `{"features":{"scale":"x"}}`, "spec.params.features: scale is none"},
		{"KernelMatrix", `{"features":{"text":{"max_df":-1}}}`, "spec.params.features.text: max_df is"},
		{"NearestNeighbors", `{"features":{"scale":"x"}}`, "spec.params.features: scale is none"},
		{"NearestNeighbors", `{"projection":{"Eps":0.1}}`, `spec.params.projection: no field "Eps"; did you mean "eps"?`},
		{"NaiveBayes", `{"text":{"min_df":-1}}`, "spec.params.text: min_df is"},
		{"NearestMean", `{"features":{"scale":"x"}}`, "spec.params.features: scale is none"},
	} {
		kind, err := all.Lookup(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		var fault *protocol.Fault
		if _, err := kind.Defaults([]byte(c.params)); !errors.As(err, &fault) || !strings.HasPrefix(fault.What, c.want) {
			t.Errorf("%s %s: %v, want %s", c.kind, c.params, err, c.want)
		}
	}
}
