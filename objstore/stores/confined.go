package stores

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// confined is a store of which only some keys may be touched.
type confined struct {
	store  objstore.Store
	base   string // what its keys lie below in the bucket: "" or ending in a slash
	rights rights
}

var (
	_ objstore.Store         = (*confined)(nil)
	_ objstore.UploadAborter = (*confined)(nil)
	_ objstore.Refresher     = (*confined)(nil)
	_ objstore.Dater         = (*confined)(nil)
)

func (s *confined) check(op, key string, write bool) error {
	if err := s.rights.check(s.base+key, write); err != nil {
		return &objstore.Error{Op: op, Store: s.String(), Key: key, Err: err}
	}
	return nil
}

// Put implements objstore.Store.
func (s *confined) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	if err := s.check("put", key, true); err != nil {
		return objstore.Info{}, err
	}
	return s.store.Put(ctx, key, data)
}

// PutIf implements objstore.Store.
func (s *confined) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (objstore.Info, error) {
	if err := s.check("put", key, true); err != nil {
		return objstore.Info{}, err
	}
	return s.store.PutIf(ctx, key, data, opt)
}

// Get implements objstore.Store.
func (s *confined) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	if err := s.check("get", key, false); err != nil {
		return nil, objstore.Info{}, err
	}
	return s.store.Get(ctx, key, opt)
}

// Stat implements objstore.Store.
func (s *confined) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if err := s.check("stat", key, false); err != nil {
		return objstore.Info{}, err
	}
	return s.store.Stat(ctx, key)
}

// List implements objstore.Store. A prefix that reaches further than what may be read is refused, not narrowed:
// a part of an input is another input.
func (s *confined) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	if err := s.check("list", prefix, false); err != nil {
		return func(yield func(objstore.Info, error) bool) { yield(objstore.Info{}, err) }
	}
	return s.store.List(ctx, prefix)
}

// AbortUploads implements objstore.UploadAborter where the store does.
func (s *confined) AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error) {
	store, ok := s.store.(objstore.UploadAborter)
	if !ok {
		return 0, nil
	}
	if err := s.check("list", prefix, true); err != nil {
		return 0, err
	}
	return store.AbortUploads(ctx, prefix, before)
}

// Date implements objstore.Dater where the store does.
func (s *confined) Date(ctx context.Context) (time.Time, error) {
	store, ok := s.store.(objstore.Dater)
	if !ok {
		return time.Time{}, &objstore.Error{Op: "date", Store: s.String(), Err: errors.ErrUnsupported}
	}
	return store.Date(ctx)
}

// Delete implements objstore.Store.
func (s *confined) Delete(ctx context.Context, key string) error {
	if err := s.check("delete", key, true); err != nil {
		return err
	}
	return s.store.Delete(ctx, key)
}

// Refresh implements objstore.Refresher where the store does.
func (s *confined) Refresh() { objstore.Refresh(s.store) }

// String gives the URI that it was opened by.
func (s *confined) String() string {
	return objstore.URI{Scheme: "s3", Host: s.rights.name, Path: trimSlash(s.base)}.String()
}

func trimSlash(base string) string {
	if base == "" {
		return ""
	}
	return base[:len(base)-1]
}
