package datasettest

import (
	"cmp"
	"context"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gram-compute/gram/objstore"
)

// Store keeps contents in memory. Its readers return as many bytes as they please,
// from one to what was asked for. The zero value is an empty store.
type Store struct {
	Seed uint64 // of the lengths of reads

	mu      sync.Mutex
	objects map[string]stored
	puts    int
}

type stored struct {
	info    objstore.Info
	content Content
}

var _ objstore.Store = (*Store)(nil)

// PutContent stores content under key.
func (s *Store) PutContent(key string, content Content) (objstore.Info, error) {
	if err := objstore.ValidKey(key); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[string]stored{}
	}
	s.puts++
	info := objstore.Info{Key: key, Size: content.Size(), ETag: strconv.Itoa(s.puts)}
	s.objects[key] = stored{info, content}
	return info, nil
}

// Put stores a copy of data.
func (s *Store) Put(_ context.Context, key string, data []byte) (objstore.Info, error) {
	return s.PutContent(key, Literal(slices.Clone(data)))
}

// PutIf stores a copy of data, if opt allows it; one writer at a time.
func (s *Store) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (objstore.Info, error) {
	old, err := s.find(ctx, "put", key)
	if err := opt.Allow(err == nil, old.info.ETag); err != nil {
		return objstore.Info{}, s.fail("put", key, err)
	}
	return s.Put(ctx, key, data)
}

// Stat describes key.
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	object, err := s.find(ctx, "stat", key)
	return object.info, err
}

func (s *Store) find(ctx context.Context, op, key string) (stored, error) {
	if err := cmp.Or(ctx.Err(), objstore.ValidKey(key)); err != nil {
		return stored{}, s.fail(op, key, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.objects[key]
	if !ok {
		return stored{}, s.fail(op, key, objstore.ErrNotFound)
	}
	return object, nil
}

// Get opens a range of key.
func (s *Store) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	object, err := s.find(ctx, "get", key)
	if err != nil {
		return nil, objstore.Info{}, err
	}
	if opt.IfMatch != "" && opt.IfMatch != object.info.ETag {
		return nil, objstore.Info{}, s.fail("get", key, objstore.ErrChanged)
	}
	start, length, err := opt.Resolve(object.info.Size)
	if err != nil {
		return nil, objstore.Info{}, s.fail("get", key, err)
	}
	section := io.NewSectionReader(object.content, start, length)
	random := rand.New(rand.NewPCG(s.Seed, uint64(start)))
	return io.NopCloser(&ragged{section, random}), object.info, nil
}

// ragged returns fewer bytes than asked for, and the end sometimes with the last
// bytes and sometimes after them, as io.Reader allows.
type ragged struct {
	section *io.SectionReader
	random  *rand.Rand
}

func (r *ragged) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	wanted := len(p)
	switch r.random.IntN(4) {
	case 0:
		wanted = min(wanted, 1+r.random.IntN(3))
	case 1, 2:
		wanted = 1 + r.random.IntN(wanted)
	}
	n, err := r.section.Read(p[:wanted])
	if at, _ := r.section.Seek(0, io.SeekCurrent); err == nil && at == r.section.Size() && r.random.IntN(2) == 0 {
		err = io.EOF
	}
	return n, err
}

// List yields the objects whose key begins with prefix.
func (s *Store) List(_ context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []objstore.Info
	for key, object := range s.objects {
		if strings.HasPrefix(key, prefix) {
			found = append(found, object.info)
		}
	}
	slices.SortFunc(found, func(a, b objstore.Info) int { return strings.Compare(a.Key, b.Key) })
	return func(yield func(objstore.Info, error) bool) {
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Delete removes key.
func (s *Store) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
	return nil
}

func (s *Store) String() string { return "mem://datasettest" }

func (s *Store) fail(op, key string, err error) error {
	return &objstore.Error{Op: op, Store: s.String(), Key: key, Err: err}
}
