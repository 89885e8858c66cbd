package all

import (
	"errors"
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
		if kind.Name == "" || kind.Defaults == nil || kind.New == nil || kind.Describe == nil {
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
}
