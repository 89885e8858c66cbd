package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// MaxObjects bounds a manifest. More objects than this belong into fewer, larger files.
const MaxObjects = 1_000_000

// Prefix is the part of a name that the keys of its manifest are relative to:
// everything up to and including the last slash.
func Prefix(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// List finds the objects that name stands for in store and pins them: one key, a
// prefix that is empty or ends in "/" (everything below it), or a glob whose "*"
// stand for any run of characters in the last segment (only that level). Keys come
// in byte order, relative to Prefix(name). Keys that end in "/", which some
// tools make to show folders, are left out. uri is what people call the input;
// objstore.SplitObjectURI parts it into store and name.
//
// It fails with INPUT_EMPTY when nothing matches or every match is empty.
func List(ctx context.Context, store objstore.Store, uri, name string) (Manifest, error) {
	m := Manifest{URI: uri}
	prefix, last := Prefix(name), name[len(Prefix(name)):]
	if strings.Contains(prefix, "*") {
		return m, globFault(uri)
	}
	var err error
	if last != "" && !strings.Contains(last, "*") {
		m.Objects, err = statOne(ctx, store, prefix, last)
	} else {
		m.Objects, err = listMany(ctx, store, uri, prefix, last)
	}
	if err != nil {
		return m, StoreFault(uri, err)
	}
	if err := checkObjects(m.Objects); err != nil {
		return m, inputFault(protocol.CodeInputLimit, uri, err, "the listing cannot be planned", "")
	}
	if err := addDigests(ctx, store, prefix, m.Objects); err != nil {
		return m, StoreFault(uri, err)
	}
	return m, m.checkNotEmpty()
}

func globFault(uri string) error {
	return inputFault(protocol.CodeSpecInvalid, uri, nil, `a "*" stands before the last segment`,
		`Use "*" in the last segment only, or end the URI with "/" to read everything below it`)
}

func (m Manifest) checkNotEmpty() error {
	for _, o := range m.Objects {
		if o.Size > 0 {
			return nil
		}
	}
	what := "nothing matches"
	if n := len(m.Objects); n > 0 {
		what = fmt.Sprintf("all %d matching objects are empty", n)
	}
	return inputFault(protocol.CodeInputEmpty, m.URI, nil, what,
		`Check spec.input.uri (a folder ends in "/") and that the data has been uploaded`)
}

func statOne(ctx context.Context, store objstore.Store, prefix, last string) ([]Object, error) {
	info, err := store.Stat(ctx, prefix+last)
	if errors.Is(err, objstore.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Object{{Key: last, Size: info.Size, ETag: info.ETag, VersionID: info.VersionID}}, nil
}

func listMany(ctx context.Context, store objstore.Store, uri, prefix, glob string) ([]Object, error) {
	literal, _, _ := strings.Cut(glob, "*")
	var objects []Object
	for info, err := range store.List(ctx, prefix+literal) {
		if err != nil {
			return nil, err
		}
		key, ok := strings.CutPrefix(info.Key, prefix)
		if !ok || !matches(glob, key) {
			continue
		}
		if len(objects) == MaxObjects {
			return nil, inputFault(protocol.CodeInputLimit, uri, nil,
				fmt.Sprintf("more than %d objects match", MaxObjects),
				"Join small files, or split the input over several jobs")
		}
		objects = append(objects, Object{Key: key, Size: info.Size, ETag: info.ETag, VersionID: info.VersionID})
	}
	// total order: keys are unique in a store, and checkObjects refuses a listing where they are not
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
	return objects, nil
}

// matches reports whether key is meant by glob; an empty glob means every key.
func matches(glob, key string) bool {
	if key == "" || strings.HasSuffix(key, "/") {
		return false
	}
	if glob == "" {
		return true
	}
	return !strings.Contains(key, "/") && globMatch(glob, key)
}

// globMatch matches with "*" as the only special character: the parts between stars
// must occur in order, the first at the start and the last at the end.
func globMatch(glob, s string) bool {
	parts := strings.Split(glob, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return glob == s
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// checkObjects holds what every manifest promises: named, pinned, sized objects in
// strictly ascending order whose sizes can be added up.
func checkObjects(objects []Object) error {
	total, previous := int64(0), ""
	for i, o := range objects {
		if err := o.check(previous); err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		if total += o.Size; total < 0 {
			return fmt.Errorf("object %d: the sizes add up to more than 2^63 bytes", i)
		}
		previous = o.Key
	}
	return nil
}

func (o Object) check(previous string) error {
	if err := objstore.ValidKey(o.Key); err != nil {
		return err
	}
	switch {
	case o.Key <= previous:
		return fmt.Errorf("the key %q does not come after %q", o.Key, previous)
	case o.Size < 0:
		return fmt.Errorf("%q has a size of %d bytes", o.Key, o.Size)
	case o.Digest != "" && !knownDigest(o.Digest):
		return fmt.Errorf("%q has an unknown digest %.80q", o.Key, o.Digest)
	case o.ETag == "" || !utf8.ValidString(o.ETag) || !utf8.ValidString(o.VersionID):
		return fmt.Errorf("%q has no usable ETag, so it cannot be pinned", o.Key)
	}
	return nil
}
