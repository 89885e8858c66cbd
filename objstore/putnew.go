package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Allow decides about a write where an object exists or not, with its ETag.
func (o PutOptions) Allow(exists bool, etag string) error {
	switch {
	case o.New && exists:
		return ErrExists
	case o.IfMatch != "" && !exists:
		return ErrNotFound
	case o.IfMatch != "" && o.IfMatch != etag:
		return fmt.Errorf("%w: ETag is %s, not %s", ErrChanged, etag, o.IfMatch)
	}
	return nil
}

// PutNew stores data under key and never replaces other bytes. An object that holds the same bytes counts as written:
// it is this call's own after a lost reply, or that of another attempt at the same task. One with other bytes stays,
// and the error is ErrExists.
func PutNew(ctx context.Context, s Store, key string, data []byte) (Info, error) {
	info, err := s.PutIf(ctx, key, data, PutOptions{New: true})
	if err == nil || !errors.Is(err, ErrExists) {
		return info, err
	}
	found, failed := s.Stat(ctx, key)
	if failed != nil {
		return Info{}, failed
	}
	if found.Size != int64(len(data)) {
		return Info{}, err
	}
	stored, found, failed := ReadAll(ctx, s, key, GetOptions{IfMatch: found.ETag}, found.Size)
	if failed != nil {
		return Info{}, failed
	}
	if !bytes.Equal(stored, data) {
		return Info{}, err
	}
	return found, nil
}
