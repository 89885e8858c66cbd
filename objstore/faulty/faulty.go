// Package faulty wraps a store and breaks what a table of rules says: the n-th
// call of an operation on some keys fails, waits, loses its reply, or gives a
// body cut short or with a bit flipped. The same calls in the same order meet
// the same faults.
package faulty

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
	"sync"

	"github.com/gram-compute/gram/objstore"
)

// Op names an operation of a Store, as objstore.Error does.
type Op string

// The operations.
const (
	Put    Op = "put"
	Get    Op = "get"
	Stat   Op = "stat"
	List   Op = "list"
	Delete Op = "delete"
)

// Rule says which calls to break, and how. Of several rules that a call falls
// under, each counts it and each does its part, in order of the table.
type Rule struct {
	// Op is the operation; empty means every one.
	Op Op
	// Key is a pattern of path.Match for the key (for List, the prefix); ending in
	// "/" it stands for every key below; empty for every key.
	Key string
	// First and Times choose among the calls that Op and Key fit, counted from 1: Times of
	// them beginning with number First. Zero First means 1, zero Times means all from there on.
	First, Times int

	// Before runs ahead of the operation: a test's place to wait on a channel
	// or to kill something. Its error becomes the call's.
	Before func(ctx context.Context, op Op, key string) error
	// Err, when set, fails the call with this error.
	Err error
	// LostReply lets the operation happen before Err (ErrUnavailable if nil) is returned.
	LostReply bool
	// Cut, when above zero, ends a Get's body in io.ErrUnexpectedEOF before the
	// Cut-th byte, counted from 1, and a List's sequence in Err before the Cut-th object.
	Cut int64
	// Flip, when above zero, flips the lowest bit of the Flip-th byte of a Get's body.
	Flip int64
}

// Store is a store with faults.
type Store struct {
	inner objstore.Store
	rules []Rule

	mu    sync.Mutex
	calls []int // per rule: the calls it fits
	fired []int // per rule: the calls it broke
}

var _ objstore.Store = (*Store)(nil)

// Wrap breaks inner by rules. It panics on a malformed key pattern, which is the test's own mistake.
func Wrap(inner objstore.Store, rules ...Rule) *Store {
	for i, r := range rules {
		if _, err := path.Match(r.Key, ""); err != nil {
			panic(fmt.Sprintf("faulty: rule %d: %v: %q", i, err, r.Key))
		}
	}
	return &Store{inner: inner, rules: rules, calls: make([]int, len(rules)), fired: make([]int, len(rules))}
}

// Fired says how many calls each rule broke.
func (s *Store) Fired() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.fired...)
}

// String names the store within.
func (s *Store) String() string { return s.inner.String() }

// match counts the call and gives the rules that break it.
func (s *Store) match(op Op, key string) []Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var hit []Rule
	for i, r := range s.rules {
		if !r.fits(op, key) {
			continue
		}
		s.calls[i]++
		first := max(r.First, 1)
		if s.calls[i] >= first && (r.Times == 0 || s.calls[i] < first+r.Times) {
			s.fired[i]++
			hit = append(hit, r)
		}
	}
	return hit
}

func (r Rule) fits(op Op, key string) bool {
	if r.Op != "" && r.Op != op {
		return false
	}
	if r.Key == "" || strings.HasSuffix(r.Key, "/") {
		return strings.HasPrefix(key, r.Key)
	}
	ok, _ := path.Match(r.Key, key) // Wrap has tried the pattern
	return ok
}

// call runs do under the faults of op on key.
func (s *Store) call(ctx context.Context, op Op, key string, hit []Rule, do func() error) error {
	for _, r := range hit {
		if r.Before != nil {
			if err := r.Before(ctx, op, key); err != nil {
				return s.fail(op, key, err)
			}
		}
		if r.Err != nil && !r.LostReply && !r.breaksList(op) {
			return s.fail(op, key, r.Err)
		}
	}
	if err := do(); err != nil {
		return err
	}
	for _, r := range hit {
		if r.LostReply {
			return s.fail(op, key, cmp.Or(r.Err, fmt.Errorf("%w: the reply was lost", objstore.ErrUnavailable)))
		}
	}
	return nil
}

// breaksList: the rule's error belongs into the middle of a listing.
func (r Rule) breaksList(op Op) bool { return op == List && r.Cut > 0 }

func (s *Store) fail(op Op, key string, err error) error {
	return &objstore.Error{Op: string(op), Store: s.String(), Key: key, Err: err}
}

// Put stores data under key, unless a rule says otherwise.
func (s *Store) Put(ctx context.Context, key string, data []byte) (info objstore.Info, err error) {
	err = s.call(ctx, Put, key, s.match(Put, key), func() (err error) {
		info, err = s.inner.Put(ctx, key, data)
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return info, nil
}

// PutIf stores data under key if opt allows it, unless a rule for Put says otherwise.
func (s *Store) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (info objstore.Info,
	err error) {
	err = s.call(ctx, Put, key, s.match(Put, key), func() (err error) {
		info, err = s.inner.PutIf(ctx, key, data, opt)
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return info, nil
}

// Stat describes key, unless a rule says otherwise.
func (s *Store) Stat(ctx context.Context, key string) (info objstore.Info, err error) {
	err = s.call(ctx, Stat, key, s.match(Stat, key), func() (err error) {
		info, err = s.inner.Stat(ctx, key)
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return info, nil
}

// Delete removes key, unless a rule says otherwise.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.call(ctx, Delete, key, s.match(Delete, key), func() error {
		return s.inner.Delete(ctx, key)
	})
}

// Get opens key for reading, unless a rule says otherwise.
func (s *Store) Get(ctx context.Context, key string, opt objstore.GetOptions) (r io.ReadCloser, info objstore.Info,
	err error) {
	hit := s.match(Get, key)
	err = s.call(ctx, Get, key, hit, func() (err error) {
		r, info, err = s.inner.Get(ctx, key, opt)
		return err
	})
	if err != nil {
		if r != nil { // a lost reply
			err = errors.Join(err, r.Close())
		}
		return nil, objstore.Info{}, err
	}
	for _, rule := range hit {
		if rule.Cut > 0 || rule.Flip > 0 {
			r = &body{ReadCloser: r, rule: rule, cut: s.fail(Get, key, io.ErrUnexpectedEOF)}
		}
	}
	return r, info, nil
}

// List yields the objects below prefix, unless a rule says otherwise.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	return func(yield func(objstore.Info, error) bool) {
		hit := s.match(List, prefix)
		if err := s.call(ctx, List, prefix, hit, func() error { return nil }); err != nil {
			yield(objstore.Info{}, err)
			return
		}
		n := int64(0)
		for info, err := range s.inner.List(ctx, prefix) {
			n++
			for _, r := range hit {
				if r.Cut == n {
					yield(objstore.Info{}, s.fail(List, prefix, cmp.Or(r.Err, objstore.ErrUnavailable)))
					return
				}
			}
			if !yield(info, err) {
				return
			}
		}
	}
}
