package all

import (
	"fmt"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/predict"
	"github.com/gram-compute/gram/protocol"
)

// Validate writes every default into a spec, the kind's own included, and refuses a
// bad one with a *protocol.Fault of CodeSpecInvalid. It is what the coordinator is given.
func Validate(spec protocol.JobSpec) (protocol.JobSpec, error) { return ValidateWith(Lookup, spec) }

// LeastState is how many bytes of memory a valid spec's job takes at least; 0 where that cannot be told before its
// input was read. It is what the coordinator is given.
func LeastState(spec protocol.JobSpec) int64 {
	kind, err := Lookup(spec.Kind)
	if err != nil || kind.LeastState == nil {
		return 0
	}
	return kind.LeastState(spec)
}

// MostRounds returns the most rounds of a valid spec's job, given what is known of its plan, and false where only the
// data bound them. Comparing ids takes as many as their lists need.
func MostRounds(spec protocol.JobSpec, plan jobs.Plan) (int64, bool) {
	if spec.Spec.Input.HasIDs() || spec.Spec.Queries != nil && spec.Spec.Queries.HasIDs() {
		return 0, false
	}
	kind, err := Lookup(spec.Kind)
	if err != nil {
		return 0, false
	}
	algorithm, err := kind.New(spec)
	if err != nil {
		return 0, false
	}
	return jobs.MostRounds(algorithm.Phases(), plan)
}

// RoundsFrom is MostRounds for a coordinator, which knows how many shards there are; 0 stands for false.
func RoundsFrom(spec protocol.JobSpec, shards int) int64 {
	most, _ := MostRounds(spec, jobs.Plan{Shards: shards})
	return most
}

// ValidateWith is Validate where lookup knows the kinds.
func ValidateWith(lookup func(name string) (jobs.Kind, error), spec protocol.JobSpec) (protocol.JobSpec, error) {
	spec = spec.WithDefaults()
	if err := spec.Validate(); err != nil {
		return spec, err
	}
	kind, err := lookup(spec.Kind)
	if err != nil {
		return spec, err
	}
	if err := checkURIs(spec.Spec); err != nil {
		return spec, err
	}
	if err := checkUses(spec, kind); err != nil {
		return spec, err
	}
	if spec.Spec.Params, err = kind.Defaults(spec.Spec.Params); err != nil {
		return spec, err
	}
	_, err = kind.New(spec)
	return spec, err
}

// checkURIs refuses what no process could open.
func checkURIs(spec protocol.Spec) error {
	type named struct{ field, uri string }
	uris := []named{
		{"spec.input.uri", spec.Input.URI}, {"spec.input.labels_uri", spec.Input.LabelsURI},
		{"spec.input.ids_uri", spec.Input.IDsURI},
		{"spec.output.uri", spec.Output.URI}, {"spec.model", spec.Model},
	}
	if q := spec.Queries; q != nil {
		uris = append(uris, named{"spec.queries.uri", q.URI}, named{"spec.queries.labels_uri", q.LabelsURI},
			named{"spec.queries.ids_uri", q.IDsURI})
	}
	for _, u := range uris {
		if u.uri == "" || u.field == "spec.model" && protocol.IsReference(u.uri) {
			continue // an input without a URI is refused before; the coordinator knows references
		}
		if err := dataset.CheckURI(u.field, u.uri); err != nil {
			return err
		}
	}
	return nil
}

// checkUses refuses what the kind would not read.
func checkUses(spec protocol.JobSpec, kind jobs.Kind) error {
	switch {
	case spec.Spec.Queries != nil && !kind.UsesQueries:
		return unused("spec.queries", kind.Name, "searches, and to judge classes on")
	case spec.Spec.Evaluation != nil && !kind.Evaluates:
		return unused("spec.evaluation", kind.Name, "kinds that give classes scores, and predictions")
	case spec.Spec.Input.Split.Folds > 0 && (!kind.Evaluates || spec.Kind == predict.KindName):
		return unused("spec.input.split.folds", kind.Name, "kinds that train on labels")
	case spec.Spec.Input.Split.Deals() && (spec.Kind == predict.KindName || spec.Spec.Queries != nil):
		return protocol.SpecFault("spec.input.split.by and group are for jobs that train, without spec.queries").
			WithHint("Leave them out.")
	case spec.Spec.Queries != nil && (spec.Spec.Queries.Split.Folds > 0 || spec.Spec.Queries.Split.Deals()):
		return protocol.SpecFault("spec.queries.split is not used: give spec.input.split")
	case spec.Spec.Model != "" && !kind.UsesModel:
		return unused("spec.model", kind.Name, "predictions, and jobs that go on training a model")
	}
	return nil
}

func unused(field, kind, use string) error {
	return protocol.SpecFault("%s is not used by kind %s", field, kind).
		WithHint(fmt.Sprintf("Leave it out; it is for %s.", use))
}
