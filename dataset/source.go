package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// Source reads the records of a manifest. It is safe for concurrent use.
type Source struct {
	store    objstore.Store
	prefix   string
	labels   string // prefix of the manifest's labels
	ids      string // and of its ids
	way      Way
	first    []int64 // where rows are counted: of each object, its first row in the data set
	manifest Manifest
	input    protocol.Input
	missing  *missing
	format   format
	buffer   int // first size of a shard's buffer
	ahead    fetches
	read     decimal.Read // nil for one number at a time
	head     atomic.Pointer[objectHead]
}

// NewSource reads the manifest's objects from store, where their keys follow prefix
// (as Prefix gives it for the name that was listed). input must have its defaults in.
func NewSource(store objstore.Store, prefix string, m Manifest, input protocol.Input) (*Source, error) {
	s := &Source{store: store, prefix: prefix, manifest: m, input: input, buffer: bufferBytes, read: decimal.Fastest()}
	if err := input.Validate("spec.input"); err != nil {
		return nil, err
	}
	s.format, s.way, s.missing = newFormat(&s.input), WayOf(&s.input), newMissing(&s.input)
	var err error
	if s.labels, err = companionPrefix(input, labelsOf(input), m.Labels, m.Objects); err != nil {
		return nil, err
	}
	if s.ids, err = companionPrefix(input, idsOf(input), m.IDs, m.Objects); err != nil {
		return nil, err
	}
	if !CountsRows(input.Format) {
		return s, nil
	}
	if !m.Counted {
		return nil, StoredFault("manifest", errors.New("it does not count the rows of its objects; a release of Gram "+
			"before this one made it"))
	}
	s.first = make([]int64, len(m.Objects))
	for i := 1; i < len(m.Objects); i++ {
		s.first[i] = s.first[i-1] + m.Objects[i-1].Rows
	}
	return s, nil
}

// ReadBy sets what reads decimal numbers, in place of the fastest on this CPU; nil is one number at a time. No value
// depends on it. It is called before Blocks.
func (s *Source) ReadBy(read decimal.Read) { s.read = read }

// companionPrefix is what the keys of companions are relative to.
func companionPrefix(input protocol.Input, c companions, listed, objects []Object) (string, error) {
	if c.uri == "" {
		return "", nil
	}
	if len(listed) != len(objects) {
		return "", StoredFault("manifest", fmt.Errorf("%d objects of %s for %d objects", len(listed), c.what,
			len(objects)))
	}
	name, err := c.name(input)
	if err != nil {
		return "", err
	}
	return Prefix(name), nil
}

// Blocks reads the records of a shard in order. Memory stays below
// 4 MiB + 3 * max_record_bytes, whatever the input. Where one block ends and the
// next begins is a function of the bytes, and means nothing.
//
// A bad record (too few columns, an empty label, a NUL byte or invalid UTF-8 in
// label or text, more than max_record_bytes) is put into Block.Skipped, or is the
// error once this shard has skipped on_bad_record.skip_max of them. The caller that adds
// up the shards checks the total against the same bound. Errors are *protocol.Fault with key,
// offset, and line and column where they are known, or the context's; after
// one the sequence ends.
func (s *Source) Blocks(ctx context.Context, shard Shard) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		r := shardReader{src: s, ctx: ctx, yield: yield, buf: s.newBuffer(shard), skips: s.input.OnBadRecord.SkipMax}
		for _, p := range shard.Pieces {
			if !r.goOn(r.piece(p)) {
				return
			}
		}
		r.goOn(r.flush())
	}
}

// newBuffer is no larger than the shard wants: there may be very many small ones.
func (s *Source) newBuffer(shard Shard) []byte {
	longest := int64(1)
	for _, p := range shard.Pieces {
		longest = max(longest, p.End-p.Start)
	}
	n := min(int64(s.buffer), max(longest, 4<<10))
	return make([]byte, n, n+aheadBytes)
}

// object checks a piece against the manifest and says how to read it.
func (s *Source) object(p Piece) (obj pinned, zipped bool, err error) {
	if p.Object < 0 || p.Object >= len(s.manifest.Objects) {
		return obj, false, StoredFault("plan", fmt.Errorf("object %d of %d", p.Object, len(s.manifest.Objects)))
	}
	o := s.manifest.Objects[p.Object]
	obj = pinned{store: s.store, key: s.prefix + o.Key, obj: o, ahead: &s.ahead}
	if zipped, err = isGzip(o.Key, s.input.Compression); err != nil {
		return obj, zipped, err
	}
	whole := p.Start == 0 && p.End == o.Size
	if p.Start < 0 || p.Start >= p.End || p.End > o.Size || ((zipped || s.format.whole()) && !whole) {
		return obj, zipped, StoredFault("plan",
			fmt.Errorf("the piece [%d, %d) of %s with %d bytes", p.Start, p.End, o.Key, o.Size))
	}
	return obj, zipped, nil
}
