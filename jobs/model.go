package jobs

import (
	"fmt"

	"github.com/gram-compute/gram/protocol"
)

// A model tells its kind and the version of its layout in two arrays of every model.
const (
	modelKind    = "kind"    // U8 text
	modelVersion = "version" // I32 scalar
)

// PutKind writes the kind and the layout's version into a model.
func (a Arrays) PutKind(kind string, version int32) {
	a.PutText(modelKind, kind)
	PutScalar(a, modelVersion, version)
}

// Kind returns the kind of a model and the version of its layout; errors are those of Get.
func (a Arrays) Kind() (kind string, version int32, err error) {
	if kind, err = a.Text(modelKind); err != nil {
		return "", 0, err
	}
	version, err = GetScalar[int32](a, modelVersion)
	return kind, version, err
}

// CheckKind refuses a model of another kind or of another version of its layout.
func (a Arrays) CheckKind(kind string, version int32) error {
	gotKind, gotVersion, err := a.Kind()
	if err != nil {
		return err
	}
	if gotKind != kind || gotVersion != version {
		return Malformed("a model of kind %q, version %d, is not one of kind %q, version %d", gotKind, gotVersion, kind, version)
	}
	return nil
}

// CheckModel refuses what a job of this kind does not begin from, before it begins: models of
// other kinds are a *protocol.Fault of CodeSpecInvalid that names both.
func (k Kind) CheckModel(model Arrays) error {
	if k.Accepts != nil {
		return k.Accepts(model)
	}
	name, _, err := model.Kind()
	if err != nil || name == k.Name {
		return err
	}
	return protocol.SpecFault(
		"spec.model is a model of kind %s; a job of kind %s begins from one of kind %s", name, k.Name, k.Name).
		WithHint(fmt.Sprintf("Name the model.safetensors of a job of kind %s, or leave spec.model out.", k.Name))
}
