package clustertest_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
)

// sort is what a job object is to its job.
type sort string

const (
	aPlan    sort = "plan"
	aState   sort = "state"
	aCarry   sort = "carry"
	aPartial sort = "partial"
	another  sort = "metrics or timeline"
)

var sorts = []sort{aPlan, aState, aCarry, aPartial}

// loss is how an object is lost.
type loss string

const (
	flippedAtRest loss = "flipped at rest"
	deleted       loss = "deleted"
	inTransit     loss = "flipped in transit"
	neverStored   loss = "PUT lost after a 200"
)

var losses = []loss{flippedAtRest, deleted, inTransit, neverStored}

// drawn are the losses in the order in which jobs get them: at rest and in transit as often.
var drawn = []loss{flippedAtRest, inTransit, deleted, inTransit, neverStored}

// Reads of an object that a fault in transit spoils: fewer than a worker repeats by itself, or more than all of them
// together.
const (
	fewReads  = 2
	manyReads = 12
)

// order is a fault that is to befall an object of a job.
type order struct {
	sort sort
	loss loss
	skip int // objects of this sort that it passes over

	reads int // that a fault in transit spoils
}

// lossyStore loses and damages job objects when they are first read, or stored, as the orders of their jobs say.
type lossyStore struct {
	objstore.Store
	mu     sync.Mutex
	states map[string]bool // digests of states, of a run without faults
	orders map[string][]*order
	seen   map[string]bool // keys that were read, or stored
	broken map[string]int  // reads of a key that are still to be spoiled
	struck map[string]int  // by job: faults that befell it
}

func newLossyStore(store objstore.Store) *lossyStore {
	return &lossyStore{
		Store: store, states: map[string]bool{}, orders: map[string][]*order{}, seen: map[string]bool{},
		broken: map[string]int{}, struck: map[string]int{},
	}
}

func (s *lossyStore) learn(key string) { s.states[key[strings.LastIndexByte(key, '/')+1:]] = true }

// jobOf is the job of a job object's key; "" for other keys.
func jobOf(key string) string {
	parts := strings.Split(key, "/")
	if len(parts) != 4 || parts[0] != "jobs" || len(parts[2]) != 2 {
		return ""
	}
	return parts[1]
}

func (s *lossyStore) sortOf(key string, data []byte) sort {
	name := key[strings.LastIndexByte(key, '/')+1:]
	arrays, err := jobs.Decode(data)
	switch {
	case err != nil && strings.HasSuffix(name, "-0"):
		return aPlan
	case err != nil:
		return another
	case s.states[name]:
		return aState
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(arrays)), func(name string) bool {
		before, _, found := strings.Cut(name, "/")
		return found && strings.Trim(before, "0123456789") == ""
	}) {
		return aCarry
	}
	return aPartial
}

// take returns the loss that is to befall an object that is met for the first time, if any.
func (s *lossyStore) take(key string, data []byte, stored bool) (loss, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[fmt.Sprint(stored, key)] {
		return "", false
	}
	s.seen[fmt.Sprint(stored, key)] = true
	what := s.sortOf(key, data)
	id := jobOf(key)
	for i, o := range s.orders[id] {
		if o.sort != what || (o.loss == neverStored) != stored {
			continue
		}
		if o.skip > 0 {
			o.skip--
			continue
		}
		s.orders[id] = slices.Delete(s.orders[id], i, i+1)
		s.struck[id]++
		if o.loss == inTransit {
			s.broken[key] = o.reads
		}
		return o.loss, true
	}
	return "", false
}

func (s *lossyStore) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	if jobOf(key) != "" {
		if _, lose := s.take(key, data, true); lose {
			return objstore.Info{Key: key, Size: int64(len(data)), ETag: hex.EncodeToString([]byte(key[:2]))}, nil
		}
	}
	return s.Store.Put(ctx, key, data)
}

func (s *lossyStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	body, info, err := s.Store.Get(ctx, key, opt)
	if err != nil || jobOf(key) == "" {
		return body, info, err
	}
	data, err := io.ReadAll(body)
	body.Close()
	if err != nil {
		return nil, info, err
	}
	flipped := bytes.Clone(data)
	flipped[len(flipped)/2] ^= 4
	switch how, _ := s.take(key, data, false); how {
	case flippedAtRest:
		if _, err := s.Store.Put(ctx, key, flipped); err != nil {
			return nil, info, err
		}
		data = flipped
	case deleted:
		if err := s.Store.Delete(ctx, key); err != nil {
			return nil, info, err
		}
		return s.Store.Get(ctx, key, opt)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken[key] > 0 {
		s.broken[key]--
		data = flipped
	}
	return io.NopCloser(bytes.NewReader(data)), info, nil
}
