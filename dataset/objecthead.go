package dataset

import (
	"context"
	"errors"
	"io"
)

// headBytes is how much of an object's head is read to find its header and its first record.
const headBytes = 4 << 10

// objectHead is the head of the object that a piece was last read of: the next piece is likely to be of the same one,
// and a round trip to the store takes longer than reading a small piece.
type objectHead struct {
	object Object
	data   []byte
}

// withHead returns the object with its head.
func (s *Source) withHead(ctx context.Context, obj pinned) (pinned, error) {
	if obj.data != nil {
		return obj, nil
	}
	if last := s.head.Load(); last != nil && last.object == obj.obj {
		obj.head = last.data
		return obj, nil
	}
	data := make([]byte, min(obj.obj.Size, headBytes))
	body, err := obj.openStored(ctx, 0, int64(len(data)))
	if err != nil {
		return obj, err
	}
	_, err = io.ReadFull(body, data)
	if err = errors.Join(err, body.Close()); err != nil {
		return obj, StoreFault(obj.obj.Key, err)
	}
	s.head.Store(&objectHead{obj.obj, data})
	obj.head = data
	return obj, nil
}
