package objstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
)

// Resolve turns the options' range into [start, start+length) within an object
// of size bytes, or says ErrRange. Offset 0 and Length 0 is the whole object,
// also of an empty one; any other range must hold a byte and lie inside.
func (o GetOptions) Resolve(size int64) (start, length int64, err error) {
	if o.Offset == 0 && o.Length == 0 {
		return 0, size, nil
	}
	if o.Offset < 0 || o.Length < 0 || o.Offset >= size || o.Length > size-o.Offset {
		return 0, 0, fmt.Errorf("%w: offset %d, length %d, object of %d bytes", ErrRange, o.Offset, o.Length, size)
	}
	if o.Length == 0 {
		return o.Offset, size - o.Offset, nil
	}
	return o.Offset, o.Length, nil
}

// ReadAll reads one object, or the range of it that opt asks for, into memory,
// at most limit bytes; more are ErrTooLarge. Memory grows with the bytes that arrive, not with the size claimed.
func ReadAll(ctx context.Context, s Store, key string, opt GetOptions, limit int64) (data []byte, info Info,
	err error) {
	r, info, err := s.Get(ctx, key, opt)
	if err != nil {
		return nil, Info{}, err
	}
	defer r.Close()
	var buf bytes.Buffer
	buf.Grow(int(min(max(info.Size, 0), limit, 1<<20)) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(r, min(limit, math.MaxInt64-1)+1))
	if err != nil {
		return nil, Info{}, err
	}
	if n > limit {
		return nil, Info{}, &Error{Op: "get", Store: s.String(), Key: key,
			Err: fmt.Errorf("%w: more than the %d bytes allowed here", ErrTooLarge, limit)}
	}
	return buf.Bytes(), info, nil
}
