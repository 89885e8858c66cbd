package linearmodel

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/protocol"
)

// base returns the model of spec.model to go on with, in its space, but with the counts of this job's records. A model
// that this job's records or parameters contradict is a *protocol.Fault of CodeSpecInvalid that names what differs.
func (j job) base(state jobs.Arrays, space *features.Space) (*model, error) {
	m, err := readModel(state)
	if err != nil {
		return nil, err
	}
	if m.regresses != j.Params.regresses() {
		return nil, contradiction("mode is %s in the model of spec.model, %s in this job", modeOf(m.regresses),
			j.Params.Mode)
	}
	if theirs := classesOf(m.paired); theirs != j.Params.Classes && m.space.Labels.Len() > 2 {
		return nil, contradiction("classes is %s in the model of spec.model, %s in this job", theirs, j.Params.Classes)
	}
	if m.biasScale != j.Params.BiasScale {
		return nil, contradiction("bias_scale is %v in the model of spec.model, %v in this job", m.biasScale,
			j.Params.BiasScale)
	}
	if field, theirs, ours := m.space.Contradicts(j.Params.Features); field != "" {
		return nil, contradiction("features.%s is %v in the model of spec.model, %v in this job", field, theirs, ours)
	}
	if err := sameLabels(m.space.Labels.List(), space.Labels.List()); err != nil {
		return nil, err
	}
	if err := sameColumns(m.space, space); err != nil {
		return nil, err
	}
	return m.trained(space.Records, space.ClassRecords), nil
}

func contradiction(format string, args ...any) error {
	return protocol.SpecFault("spec.params: "+format, args...).
		WithHint("Take what the model has, or leave spec.model out.")
}

// sameLabels names the first label that only one of two sorted lists has.
func sameLabels(theirs, ours []string) error {
	for _, label := range ours {
		if _, found := slices.BinarySearch(theirs, label); !found {
			return protocol.SpecFault("a training record has the label %.80q, which the model of spec.model does not know",
				label).WithHint("Train on records of its labels, or leave spec.model out.")
		}
	}
	for _, label := range theirs {
		if _, found := slices.BinarySearch(ours, label); !found {
			return protocol.SpecFault("the model of spec.model knows the label %.80q, which no training record has",
				label).WithHint("Train on records of all its labels, or leave spec.model out.")
		}
	}
	return nil
}

// sameColumns refuses records of another form or width. Texts take the columns of the model, whatever terms they have.
func sameColumns(theirs, ours *features.Space) error {
	switch {
	case theirs.Texts() != ours.Texts() || theirs.Dense() != ours.Dense():
		return protocol.SpecFault("the training records are %s, those of the model of spec.model are %s", formOf(ours),
			formOf(theirs)).WithHint("Read them as the model's were read, or leave spec.model out.")
	case !theirs.Texts() && theirs.Width != ours.Width:
		return protocol.SpecFault("the training records have %d columns, the model of spec.model has %d", ours.Width,
			theirs.Width).WithHint("Take records of the same columns, or leave spec.model out.")
	case !theirs.SameCategories(ours):
		return protocol.SpecFault("the training records have other categories than the model of spec.model").
			WithHint("Train on records of the same categories, or leave spec.model out.")
	}
	return nil
}

func formOf(s *features.Space) string {
	switch {
	case s.Texts():
		return "texts"
	case s.Dense():
		return "dense vectors"
	}
	return "sparse vectors"
}
