package jobs

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
		return Malformed("a model of kind %q, version %d, is not one of kind %q, version %d", gotKind, gotVersion, kind,
			version)
	}
	return nil
}

// IsModel reports whether the arrays are those of a model, rather than of a state.
func (a Arrays) IsModel() bool {
	_, ok := a[modelKind]
	return ok
}
