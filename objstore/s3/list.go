package s3

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// List yields the objects below prefix, Config.PageSize at a time. A page
// that fails is asked for again from the last key on.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidPrefix(prefix); err != nil {
			yield(objstore.Info{}, s.fail("list", prefix, err))
			return
		}
		l := &listing{store: s, prefix: prefix, yield: yield}
		for {
			before := l.last
			err := s.attempt(ctx, "list", prefix, func() error { return l.run(ctx) })
			if err == nil || l.stopped {
				return
			}
			// else it came further: the count starts anew
			if !errors.Is(err, objstore.ErrUnavailable) || l.last == before {
				yield(objstore.Info{}, err)
				return
			}
		}
	}
}

type listing struct {
	store   *Store
	prefix  string
	yield   func(objstore.Info, error) bool
	last    string // full key
	stopped bool   // the caller wants no more
}

func (l *listing) run(ctx context.Context) error {
	owner := false
	for found := range l.store.client.ListObjectsIter(ctx, l.store.cfg.Bucket, minio.ListObjectsOptions{
		Prefix: l.store.prefix + asked(l.prefix), Recursive: true, StartAfter: l.last, FetchOwner: &owner,
		MaxKeys: l.store.cfg.PageSize,
	}) {
		if found.Err != nil {
			return found.Err
		}
		if err := l.object(found); err != nil || l.stopped {
			return err
		}
	}
	return ctx.Err() // at which minio-go ends the listing without a word
}

// asked is the prefix to ask the server for. MinIO refuses one that ends in the
// segment "." or "..", though ".hidden" begins so: then the folder is asked for.
func asked(prefix string) string {
	folder, last := path.Split(prefix)
	if last == "." || last == ".." {
		return folder
	}
	return prefix
}

func (l *listing) object(found minio.ObjectInfo) error {
	if found.Key <= l.last && l.last != "" {
		return fmt.Errorf("%w: it lists %q after %q", errProtocol, found.Key, l.last)
	}
	l.last = found.Key
	key, ok := strings.CutPrefix(found.Key, l.store.prefix)
	if !ok {
		return fmt.Errorf("%w: it lists %q, which is not below %q", errProtocol, found.Key, l.store.prefix)
	}
	if !strings.HasPrefix(key, l.prefix) || strings.HasSuffix(key, "/") && found.Size == 0 {
		return nil // only asked for by asked, or a folder's marker, as consoles make them
	}
	if err := objstore.ValidKey(key); err != nil {
		return fmt.Errorf("%w: rename the object to list this prefix", err)
	}
	l.stopped = !l.yield(objstore.Info{Key: key, Size: found.Size, ETag: found.ETag}, nil)
	return nil
}
