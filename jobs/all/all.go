// Package all lists every kind of job that Gram knows.
package all

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/gaussiannb"
	"github.com/gram-compute/gram/jobs/kinds/kernelmatrix"
	"github.com/gram-compute/gram/jobs/kinds/kernelmean"
	"github.com/gram-compute/gram/jobs/kinds/kernelperceptron"
	"github.com/gram-compute/gram/jobs/kinds/kmeans"
	"github.com/gram-compute/gram/jobs/kinds/knn"
	"github.com/gram-compute/gram/jobs/kinds/linearmodel"
	"github.com/gram-compute/gram/jobs/kinds/naivebayes"
	"github.com/gram-compute/gram/jobs/kinds/nearestmean"
	"github.com/gram-compute/gram/jobs/kinds/noveltydetector"
	"github.com/gram-compute/gram/jobs/kinds/perceptron"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/jobs/kinds/supportvectormachine"
	"github.com/gram-compute/gram/jobs/learn/folds"
	"github.com/gram-compute/gram/protocol"
)

// Kinds returns every kind in byte order of name.
func Kinds() []jobs.Kind {
	kinds := []jobs.Kind{
		gaussiannb.Kind(), // GaussianNaiveBayes
		kmeans.Kind(),
		kernelmean.DensityKind(), // KernelDensityBayes
		kernelmatrix.Kind(),
		kernelmean.MeanKind(), // KernelNearestMean
		kernelperceptron.Kind(),
		linearmodel.Kind(),
		naivebayes.Kind(),
		nearestmean.Kind(),
		knn.Kind(),      // NearestNeighbors
		knn.GraphKind(), // NeighborGraph
		noveltydetector.Kind(),
		perceptron.Kind(),
		predict.Kind(OfModel),
		supportvectormachine.Kind(),
	}
	for i := range kinds {
		kinds[i].New = folds.Of(kinds[i].New)
	}
	return kinds
}

// Lookup returns the kind of a name as a spec has it. An unknown one is a
// *protocol.Fault of CodeSpecInvalid that names the nearest known.
func Lookup(name string) (jobs.Kind, error) {
	var names []string
	for _, kind := range Kinds() {
		if kind.Name == name {
			return kind, nil
		}
		names = append(names, kind.Name)
	}
	hint := "Known kinds: " + strings.Join(names, ", ") + "."
	return jobs.Kind{}, protocol.SpecFault("unknown kind %q", name).WithHint(hint).Suggest(name, names)
}

// Params returns the typed parameters of a kind, whose JSON names are the kind's fields; nil for an unknown kind.
func Params(kind string) any {
	known, err := Lookup(kind)
	if err != nil {
		return nil
	}
	return known.Params.Zero
}

// OfModel returns the kind that made a model. Arrays that are no model are a *protocol.Fault of CodeCorrupt, those of a
// kind that is not known one of CodeSpecInvalid.
func OfModel(model jobs.Arrays) (jobs.Kind, error) {
	name, _, err := model.Kind()
	if err != nil {
		return jobs.Kind{}, err
	}
	kind, err := Lookup(name)
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		fault.What, fault.Hint = fmt.Sprintf("the model is of kind %q, which is not known here", name),
			"A newer version of Gram may know it."
	}
	return kind, err
}
