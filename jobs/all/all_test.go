package all

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

func TestKindsAreOrderedAndWhole(t *testing.T) {
	kinds := Kinds()
	if !slices.IsSortedFunc(kinds, func(a, b jobs.Kind) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("kinds are not in byte order")
	}
	for _, kind := range kinds {
		if kind.Name == "" || kind.Summary == "" || kind.Params.Defaults == nil ||
			kind.New == nil || kind.Describe == nil {
			t.Errorf("kind %q lacks a part", kind.Name)
		}
		if found, err := Lookup(kind.Name); err != nil || found.Name != kind.Name {
			t.Errorf("%q: %v", kind.Name, err)
		}
		model := jobs.Arrays{}
		model.PutKind(kind.Name, 1)
		if found, err := OfModel(model); err != nil || found.Name != kind.Name {
			t.Errorf("a model of %q: %v", kind.Name, err)
		}
	}
}

func TestLookupSaysWhatWasMeant(t *testing.T) {
	for name, want := range map[string]string{
		"naiveBayes":  `Did you mean "NaiveBayes"?`,
		"NaiveBays":   `Did you mean "NaiveBayes"?`,
		"RandomWoods": "Known kinds: GaussianNaiveBayes, KMeans",
		"":            "Known kinds: GaussianNaiveBayes, KMeans",
	} {
		_, err := Lookup(name)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestOfModelRefusesOtherArrays(t *testing.T) {
	_, err := OfModel(jobs.Arrays{})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Error(err)
	}
	later := jobs.Arrays{}
	later.PutKind("RandomWoods", 1)
	if _, err = OfModel(later); !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid ||
		!strings.Contains(fault.What, `the model is of kind "RandomWoods"`) {
		t.Error(err)
	}
}

// A job begins from a model of its own kind, a prediction from any that predicts; what refuses another names the field
// and both kinds.
func TestModelsToBeginFrom(t *testing.T) {
	accepted, predicting := map[string]int{}, 0
	for _, kind := range Kinds() {
		if kind.Predict != nil {
			predicting++
		}
		for _, other := range Kinds() {
			model := jobs.Arrays{}
			model.PutKind(other.Name, 1)
			err := kind.CheckModel(model)
			var fault *protocol.Fault
			switch {
			case !kind.UsesModel: // a spec that has a model is refused
			case err == nil:
				accepted[kind.Name]++
			case !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid ||
				!strings.HasPrefix(fault.What, "spec.model is a model of kind "+other.Name) ||
				!strings.Contains(fault.What, "a job of kind "+kind.Name+" "):
				t.Errorf("%s from %s: %v", kind.Name, other.Name, err)
			}
		}
		if _, isFault := kind.CheckModel(jobs.Arrays{}).(*protocol.Fault); kind.UsesModel && kind.Accepts == nil &&
			!isFault {
			t.Errorf("%s begins from no model", kind.Name)
		}
	}
	want := map[string]int{"KMeans": 1, "LinearModel": 1, "Perceptron": 1, "Predict": predicting}
	if !maps.Equal(accepted, want) {
		t.Errorf("accepted %v", accepted)
	}
}
