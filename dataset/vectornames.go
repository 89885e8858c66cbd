package dataset

import (
	"context"
	"fmt"
	"slices"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// Listed is a data set as Plan has listed it.
type Listed struct {
	Store    objstore.Store
	Name     string // within the store
	Manifest Manifest
	Input    protocol.Input
}

// CompareVectors refuses queries whose vectors have other columns than those of the input, or the same in another
// order, as far as the headers of both tell. Where both specs list their features by name, they are left to say what
// they like.
func CompareVectors(ctx context.Context, input, queries Listed) error {
	if input.namesFeatures() && queries.namesFeatures() {
		return nil
	}
	want, from, err := input.vectorNames(ctx)
	if err != nil || want == nil {
		return err
	}
	have, key, err := queries.vectorNames(ctx)
	if err != nil || len(have) != len(want) { // other widths are met when the records are read
		return err
	}
	for i, name := range have {
		if name != want[i] {
			return inputFault(protocol.CodeSpecInvalid, key, nil,
				fmt.Sprintf("value %d of its vectors is named %.80q by the header of spec.queries, and %.80q by that of "+
					"spec.input in %q", i+1, name, want[i], from),
				"List the columns of both by name, in one order: spec.input.features and spec.queries.features")
		}
	}
	return nil
}

// namesFeatures reports whether the spec lists all columns of the vectors by name.
func (l Listed) namesFeatures() bool {
	byNumber := func(c protocol.Column) bool { return c.Name == "" }
	return len(l.Input.Features) > 0 && !slices.ContainsFunc(l.Input.Features, byNumber) &&
		!slices.ContainsFunc(l.Input.Categorical, byNumber)
}

// VectorNames returns what the first header calls the columns of the vectors, in the order of the vectors; nil where
// there is no header or no vector.
func (l Listed) VectorNames(ctx context.Context) ([]string, error) {
	names, _, err := l.vectorNames(ctx)
	return names, err
}

// vectorNames returns what the first header calls the columns of the vectors, in the order of the vectors, and the key
// of its object. Names are nil where there is no header or no vector.
func (l Listed) vectorNames(ctx context.Context) (names []string, key string, err error) {
	in := l.Input
	format, ok := newFormat(&in).(lineFormat)
	if !ok || !in.Header || in.Format != "csv" || (len(in.Features) == 0 && !in.Text.IsZero()) {
		return nil, "", nil
	}
	src := &Source{store: l.Store, prefix: Prefix(l.Name), manifest: l.Manifest, input: in, format: format}
	for i, o := range l.Manifest.Objects {
		if o.Size == 0 {
			continue
		}
		all, err := format.headerNames(&shardReader{src: src, ctx: ctx}, i, false)
		if err != nil || all != nil {
			return vectorNames(&in, all), o.Key, err
		}
	}
	return nil, "", nil
}

// vectorNames picks the names of the columns of the vectors.
func vectorNames(in *protocol.Input, all [][]byte) (names []string) {
	pick := func(c protocol.Column) int {
		i, err := columnOf(c, all)
		if err != nil || i >= len(all) {
			return -1
		}
		return i
	}
	add := func(columns []protocol.Column) {
		for _, c := range columns {
			name := ""
			if i := pick(c); i >= 0 {
				name = string(all[i])
			}
			names = append(names, name)
		}
	}
	if len(in.Features) > 0 {
		add(in.Features)
		add(in.Categorical)
		return names
	}
	used := make([]bool, len(all))
	for _, c := range in.Columns() {
		if i := pick(c); i >= 0 {
			used[i] = true
		}
	}
	for i, name := range all {
		if !used[i] {
			names = append(names, string(name))
		}
	}
	add(in.Categorical)
	return names
}
