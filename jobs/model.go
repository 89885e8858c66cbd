package jobs

import (
	"maps"

	"github.com/gram-compute/gram/dataset"
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

// A model keeps the offsets that were taken off its records in two arrays.
const (
	subtractColumns = "input.subtract.columns" // I64: columns of the vector from 0, ascending
	subtractOffsets = "input.subtract.offsets" // F64, one for each
)

// Offsets are what spec.input.subtract took off the records that a model was made of, by column. What predicts with the
// model takes them off too.
func Offsets(model Arrays) ([]dataset.Offset, error) {
	if _, ok := model[subtractColumns]; !ok {
		return nil, nil
	}
	columns, err := Get[int64](model, subtractColumns, -1)
	if err != nil {
		return nil, err
	}
	values, err := Get[float64](model, subtractOffsets, len(columns))
	if err != nil {
		return nil, err
	}
	offsets := make([]dataset.Offset, len(columns))
	for i, c := range columns {
		if c < 0 || c >= protocol.MaxWidth || i > 0 && c <= columns[i-1] || values[i]-values[i] != 0 {
			return nil, Malformed("array %q does not hold columns in order, with finite offsets", subtractColumns)
		}
		offsets[i] = dataset.Offset{Column: int(c), Value: values[i]}
	}
	return offsets, nil
}

// WithOffsets returns a model with offsets; a model without any stays as it is.
func WithOffsets(model Arrays, offsets []dataset.Offset) Arrays {
	if len(offsets) == 0 {
		return model
	}
	columns, values := make([]int64, len(offsets)), make([]float64, len(offsets))
	for i, o := range offsets {
		columns[i], values[i] = int64(o.Column), o.Value
	}
	model = maps.Clone(model)
	Put(model, subtractColumns, columns)
	Put(model, subtractOffsets, values)
	return model
}

// DropOffsets deletes the offsets from a model's arrays.
func DropOffsets(model Arrays) {
	delete(model, subtractColumns)
	delete(model, subtractOffsets)
}
