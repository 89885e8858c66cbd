package dataset

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// Plan lists the input once and cuts it into shards: List and Cut as its format needs
// them. name is the input's name in store, and input must have its defaults in. Where the
// labels or ids lie in objects of their own, they are pinned too. Rows are counted where the format counts rows, and
// headers compared where columns go by their position.
func Plan(ctx context.Context, store objstore.Store, name string, input protocol.Input) (Manifest, []Shard, error) {
	if err := input.Validate("spec.input"); err != nil {
		return Manifest{}, nil, err
	}
	m, err := List(ctx, store, input.URI, name)
	if err != nil {
		return m, nil, err
	}
	if m.Labels, err = listCompanions(ctx, store, input, labelsOf(input), len(m.Objects)); err != nil {
		return m, nil, err
	}
	if m.IDs, err = listCompanions(ctx, store, input, idsOf(input), len(m.Objects)); err != nil {
		return m, nil, err
	}
	if input.Verify == protocol.VerifyOff {
		m.dropDigests()
	}
	shards, err := Shards(m, input)
	if err != nil {
		return m, nil, err
	}
	if err := m.checkPlaces(&input); err != nil {
		return m, nil, err
	}
	if err := m.compareHeaders(ctx, store, Prefix(name), input); err != nil {
		return m, nil, err
	}
	return m, shards, m.countRows(ctx, store, Prefix(name), input)
}

// Shards cuts a listed input into shards: a pure function of its arguments. input must have its defaults in.
func Shards(m Manifest, input protocol.Input) ([]Shard, error) {
	return cut(m, int64(input.ShardBytes), input.Compression, newFormat(&input).whole())
}

// companions are objects that hold something of the records of an input.
type companions struct{ what, field, uri string }

func labelsOf(in protocol.Input) companions {
	return companions{"labels", "spec.input.labels_uri", in.LabelsURI}
}

func idsOf(in protocol.Input) companions {
	return companions{"ids", "spec.input.ids_uri", in.IDsURI}
}

// listCompanions lists as many objects as the input has; none where the spec names none.
func listCompanions(
	ctx context.Context, store objstore.Store, input protocol.Input, c companions, objects int,
) ([]Object, error) {
	if c.uri == "" {
		return nil, nil
	}
	name, err := c.name(input)
	if err != nil {
		return nil, err
	}
	list, err := List(ctx, store, c.uri, name)
	if err != nil {
		return nil, err
	}
	if len(list.Objects) != objects {
		return nil, inputFault(protocol.CodeSpecInvalid, c.uri, nil,
			fmt.Sprintf("%d objects hold %s for the %d of %s", len(list.Objects), c.what, objects, input.URI),
			fmt.Sprintf("Correct %s: each object of uri needs one of %s, in the same order of names", c.field,
				strings.TrimPrefix(c.field, "spec.input.")))
	}
	return list.Objects, nil
}

// name is the name of the objects in the store of the input, the only one that is open.
func (c companions) name(input protocol.Input) (string, error) {
	at, _, err := objstore.SplitObjectURI(input.URI)
	if err != nil {
		return "", StoreFault(input.URI, err)
	}
	companionsAt, name, err := objstore.SplitObjectURI(c.uri)
	if err != nil {
		return "", StoreFault(c.uri, err)
	}
	if at != companionsAt {
		return "", inputFault(protocol.CodeSpecInvalid, c.uri, nil,
			c.field+" lies in another bucket or folder than spec.input.uri",
			fmt.Sprintf("Keep the %s beside the data", c.what))
	}
	return name, nil
}

// readAtATime is how many objects a plan reads at a time: a plan of many objects waits for the store.
const readAtATime = 16

// eachObject calls do for the objects [from, to), some at a time. Of several faults it returns that of the first
// object.
func eachObject(from, to int, do func(int) error) error {
	faults := make([]error, to)
	var group errgroup.Group
	group.SetLimit(readAtATime)
	for i := from; i < to; i++ {
		group.Go(func() error {
			faults[i] = do(i)
			return nil
		})
	}
	_ = group.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPlaces refuses objects whose records would have the same places.
func (m Manifest) checkPlaces(in *protocol.Input) error {
	if WayOf(in) != Place {
		return nil
	}
	keys := make(map[string]string, len(m.Objects))
	for _, o := range m.Objects {
		name := placeName(o.Key, in.Compression)
		if other, taken := keys[name]; taken {
			return inputFault(protocol.CodeSpecInvalid, o.Key, nil,
				fmt.Sprintf("it and %q differ by compression alone, which is no part of a record's identity", other),
				"Remove one of them, give it another name, or name the records by spec.input.id")
		}
		keys[name] = o.Key
	}
	return nil
}

// placeName is what records call their object: its key without the suffix of the compression that is undone.
func placeName(key, compression string) string {
	if zipped, err := isGzip(key, compression); err != nil || !zipped {
		return key
	}
	for _, suffix := range []string{".gz", ".gzip"} {
		if n := len(key) - len(suffix); n > 0 && key[n-1] != '/' && strings.EqualFold(key[n:], suffix) {
			return key[:n]
		}
	}
	return key
}
