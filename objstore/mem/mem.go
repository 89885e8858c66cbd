// Package mem is an object store in memory, for tests and experiments. What it
// holds is gone with the process.
package mem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/gram-compute/gram/objstore"
)

// Store is a map from key to bytes.
type Store struct {
	name string

	mu      sync.RWMutex
	objects map[string]object
	below   map[string]int // for each proper prefix of a key ending before a slash: how many keys lie below
}

type object struct {
	data []byte // never written to
	etag string // hex of the first half of the bytes' SHA-256
}

var _ objstore.Store = (*Store)(nil)

// New makes an empty store that calls itself mem://name.
func New(name string) *Store {
	return &Store{name: name, objects: map[string]object{}, below: map[string]int{}}
}

// String gives the store's URI.
func (s *Store) String() string { return "mem://" + s.name }

// Put stores a copy of data under key.
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	return s.PutIf(ctx, key, data, objstore.PutOptions{})
}

// PutIf stores a copy of data under key, if opt allows it.
func (s *Store) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (objstore.Info, error) {
	if err := check(ctx, key); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	sum := sha256.Sum256(data)
	o := object{data: bytes.Clone(data), etag: hex.EncodeToString(sum[:16])}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.clash(key); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	old, ok := s.objects[key]
	if err := opt.Allow(ok, old.etag); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	if !ok {
		s.count(key, 1)
	}
	s.objects[key] = o
	return o.info(key), nil
}

// clash refuses a key that is the parent or the child of another.
func (s *Store) clash(key string) error {
	if s.below[key] > 0 {
		return fmt.Errorf("%w: it is the parent of another object", objstore.ErrInvalidKey)
	}
	for parent := range parents(key) {
		if _, ok := s.objects[parent]; ok {
			return fmt.Errorf("%w: its parent %q is an object", objstore.ErrInvalidKey, parent)
		}
	}
	return nil
}

func (s *Store) count(key string, by int) {
	for parent := range parents(key) {
		if s.below[parent] += by; s.below[parent] == 0 {
			delete(s.below, parent)
		}
	}
}

// parents yields "a" and "a/b" for "a/b/c".
func parents(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range []byte(key) {
			if c == '/' && !yield(key[:i]) {
				return
			}
		}
	}
}

// Get opens key for reading.
func (s *Store) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	o, err := s.find(ctx, key)
	if err == nil && opt.IfMatch != "" && opt.IfMatch != o.etag {
		err = fmt.Errorf("%w: ETag is %s, not %s", objstore.ErrChanged, o.etag, opt.IfMatch)
	}
	if err != nil {
		return nil, objstore.Info{}, s.fail("get", key, err)
	}
	start, length, err := opt.Resolve(int64(len(o.data)))
	if err != nil {
		return nil, objstore.Info{}, s.fail("get", key, err)
	}
	r := &reader{ctx: ctx, store: s, key: key, Reader: bytes.NewReader(o.data[start : start+length])}
	return r, o.info(key), nil
}

type reader struct {
	ctx   context.Context
	store *Store
	key   string
	*bytes.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, r.store.fail("get", r.key, err)
	}
	return r.Reader.Read(p)
}

// WriteTo hides the embedded one, which would not look at the context.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{r})
}

func (r *reader) Close() error { return nil }

// Stat describes key.
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	o, err := s.find(ctx, key)
	if err != nil {
		return objstore.Info{}, s.fail("stat", key, err)
	}
	return o.info(key), nil
}

func (s *Store) find(ctx context.Context, key string) (object, error) {
	if err := check(ctx, key); err != nil {
		return object{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	o, ok := s.objects[key]
	if !ok {
		return object{}, objstore.ErrNotFound
	}
	return o, nil
}

// List yields what the store held when the iteration began.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		if err := objstore.ValidPrefix(prefix); err != nil {
			yield(objstore.Info{}, s.fail("list", prefix, err))
			return
		}
		for _, info := range s.snapshot(prefix) {
			if err := ctx.Err(); err != nil {
				yield(objstore.Info{}, s.fail("list", prefix, err))
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Store) snapshot(prefix string) []objstore.Info {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var infos []objstore.Info
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			infos = append(infos, o.info(key))
		}
	}
	slices.SortFunc(infos, func(a, b objstore.Info) int { return strings.Compare(a.Key, b.Key) })
	return infos
}

// Delete removes key.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(ctx, key); err != nil {
		return s.fail("delete", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[key]; ok {
		delete(s.objects, key)
		s.count(key, -1)
	}
	return nil
}

func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return objstore.ValidKey(key)
}

func (o object) info(key string) objstore.Info {
	return objstore.Info{Key: key, Size: int64(len(o.data)), ETag: o.etag}
}

func (s *Store) fail(op, key string, err error) error {
	return &objstore.Error{Op: op, Store: s.String(), Key: key, Err: err}
}
