package dataset

import (
	"context"
	"fmt"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// Plan lists the input once and cuts it into shards: List and Cut as its format needs
// them. name is the input's name in store, and input must have its defaults in. Where the
// labels lie in objects of their own, they are pinned too.
func Plan(ctx context.Context, store objstore.Store, name string, input protocol.Input) (Manifest, []Shard, error) {
	if err := input.Validate("spec.input"); err != nil {
		return Manifest{}, nil, err
	}
	m, err := List(ctx, store, input.URI, name)
	if err != nil {
		return m, nil, err
	}
	if input.LabelsURI != "" {
		if m.Labels, err = listLabels(ctx, store, input); err != nil {
			return m, nil, err
		}
		if len(m.Labels) != len(m.Objects) {
			return m, nil, inputFault(protocol.CodeSpecInvalid, input.LabelsURI, nil,
				fmt.Sprintf("%d objects hold labels for the %d of %s", len(m.Labels), len(m.Objects), input.URI),
				"Correct spec.input.labels_uri: each object of uri needs one of labels_uri, in the same order of names")
		}
	}
	if input.Verify == protocol.VerifyOff {
		m.dropDigests()
	}
	shards, err := Shards(m, input)
	return m, shards, err
}

// Shards cuts a listed input into shards: a pure function of its arguments. input must have its defaults in.
func Shards(m Manifest, input protocol.Input) ([]Shard, error) {
	return cut(m, int64(input.ShardBytes), input.Compression, newFormat(&input).whole())
}

// listLabels lists the objects that hold the labels.
func listLabels(ctx context.Context, store objstore.Store, input protocol.Input) ([]Object, error) {
	name, err := labelsName(input)
	if err != nil {
		return nil, err
	}
	labels, err := List(ctx, store, input.LabelsURI, name)
	return labels.Objects, err
}

// labelsName is the name of labels_uri in the store of the input, the only one that is open.
func labelsName(input protocol.Input) (string, error) {
	at, _, err := objstore.SplitObjectURI(input.URI)
	if err != nil {
		return "", StoreFault(input.URI, err)
	}
	labelsAt, name, err := objstore.SplitObjectURI(input.LabelsURI)
	if err != nil {
		return "", StoreFault(input.LabelsURI, err)
	}
	if at != labelsAt {
		return "", inputFault(protocol.CodeSpecInvalid, input.LabelsURI, nil,
			"spec.input.labels_uri lies in another bucket or folder than spec.input.uri",
			"Keep the labels beside the data")
	}
	return name, nil
}
