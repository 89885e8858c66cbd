package dataset

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/gram-compute/gram/protocol"
)

// An object whose store says what all its bytes add up to (Object.Digest) is verified whenever it is read:
//
//   - one of at most loadedBytes is loaded whole, compared, and parsed from memory, whatever part of it is wanted;
//   - a longer one that is one piece of its shard is compared while it is parsed, before its last record counts.
//
// The sum of an object that is longer and cut into pieces cannot be computed from any of them, nor can that of an
// npz, which is read here and there. Integrity says which objects are verified.
const (
	loadedBytes = 1 << 20
	loadTries   = 3 // reads of an object before it is given up
)

// loads reports whether an object is loaded whole.
func loads(o Object) bool { return o.Digest != "" && o.Size > 0 && o.Size <= loadedBytes }

// sums reports whether an object is verified while this piece of it is read.
func (s *Source) sums(o Object, p Piece) bool {
	return o.Digest != "" && o.Size > loadedBytes && p.Start == 0 && p.End == o.Size && s.input.Format != "npz"
}

// prepare loads an object, or has its bytes added up while a piece is read: verify takes the error of reading, and
// returns the error that comes before it where the bytes are not those that the store speaks of.
func (s *Source) prepare(ctx context.Context, obj *pinned, p Piece) (verify func(error) error, err error) {
	switch {
	case loads(obj.obj):
		obj.data, err = obj.load(ctx)
	case s.sums(obj.obj, p):
		if obj.sum, err = newRunningSum(obj.obj); err != nil {
			return nil, err
		}
		return func(read error) error { return obj.finish(ctx, read) }, nil
	}
	return func(read error) error { return read }, err
}

// load reads the whole object, and again where its bytes are not what the store says.
func (p pinned) load(ctx context.Context) ([]byte, error) {
	data := make([]byte, p.obj.Size)
	var wrong error
	for range loadTries {
		h, want, err := p.obj.Digest.Hash()
		if err != nil {
			return nil, StoredFault("manifest", err)
		}
		body, err := p.openStored(ctx, 0, p.obj.Size)
		if err != nil {
			return nil, err
		}
		_, err = io.ReadFull(body, data)
		if err = errors.Join(err, body.Close()); err != nil {
			return nil, StoreFault(p.obj.Key, err)
		}
		h.Write(data) // never fails
		have := h.Sum(nil)
		if bytes.Equal(have, want) {
			return data, nil
		}
		wrong = p.damaged(have, fmt.Sprintf(", in each of %d reads", loadTries))
	}
	return nil, wrong
}

// damaged is the fault of an object whose bytes add up to have. Another worker may have a better way to the store.
func (p pinned) damaged(have []byte, times string) error {
	return protocol.TaskFault(protocol.CodeInputDamaged,
		"its bytes are not those that were stored: the store says %s, and they have %s%s",
		p.obj.Digest, hex.EncodeToString(have), times).In(p.obj.Key).
		WithHint("It was damaged in the store or on the way: put it there again. " +
			"If the ETags of this store are no MD5s, set spec.input.verify: off")
}

// keptPrefix is how much of an object's head may be read twice.
const keptPrefix = maxNPYHeader + 16<<10

// runningSum adds up the bytes of an object that are read in order. What is read a second time is compared with the
// first, as far as it was kept.
type runningSum struct {
	h       hash.Hash
	want    []byte
	next    int64 // bytes added up
	prefix  []byte
	strayed bool // bytes were parsed that are not among those that were added up
}

func newRunningSum(o Object) (*runningSum, error) {
	h, want, err := o.Digest.Hash()
	if err != nil {
		return nil, StoredFault("manifest", err)
	}
	return &runningSum{h: h, want: want}, nil
}

// add takes in the bytes that lie from at on.
func (s *runningSum) add(at int64, data []byte) {
	if again := min(s.next-at, int64(len(data))); again > 0 {
		if at+again > int64(len(s.prefix)) || !bytes.Equal(s.prefix[at:at+again], data[:again]) {
			s.strayed = true
		}
		at, data = at+again, data[again:]
	}
	if len(data) == 0 {
		return
	}
	if at != s.next {
		s.strayed = true
		return
	}
	s.h.Write(data) // never fails
	s.next += int64(len(data))
	s.prefix = append(s.prefix, data[:min(keptPrefix-len(s.prefix), len(data))]...)
}

// finish reads what is left of the object and compares its sum. A fault of the input's content is told only of
// bytes that are the stored ones.
func (p pinned) finish(ctx context.Context, read error) error {
	var fault *protocol.Fault
	if read != nil && (!errors.As(read, &fault) || fault.Class != protocol.ClassInput ||
		fault.Code == protocol.CodeInputChanged) {
		return read // the store failed, or the consumer wants no more
	}
	if p.sum.next < p.obj.Size {
		body, err := p.openStored(ctx, p.sum.next, p.obj.Size)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, body)
		if err = errors.Join(err, body.Close()); err != nil {
			return StoreFault(p.obj.Key, err)
		}
	}
	if have := p.sum.h.Sum(nil); p.sum.strayed || !bytes.Equal(have, p.sum.want) {
		return p.damaged(have, "")
	}
	return read
}
