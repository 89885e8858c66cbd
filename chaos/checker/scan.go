package checker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// object is what is known of a stored object.
type object struct {
	size   int64
	sum    [sha256.Size]byte
	tells  bool   // a secret
	log    string // its text, of a segment of a job's log
	ofJob  string // that job
	absent bool   // it was listed, and gone when it was read
}

// readers of the store at a time.
const readers = 8

// largestObject bounds what is read of one.
const largestObject = 1 << 30

// scan reads every object of the bucket once.
func (e *Evidence) scan(ctx context.Context) (map[string]object, error) {
	if e.objects != nil {
		return e.objects, nil
	}
	var keys []string
	for info, err := range e.Store.List(ctx, "") {
		if err != nil {
			return nil, fmt.Errorf("list the store: %w", err)
		}
		keys = append(keys, info.Key)
	}
	found := make([]object, len(keys))
	failures := make([]error, readers)
	var reading sync.WaitGroup
	for r := range readers {
		reading.Go(func() {
			for i := r; i < len(keys) && failures[r] == nil; i += readers {
				found[i], failures[r] = e.look(ctx, keys[i])
			}
		})
	}
	reading.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	e.scanned = time.Now()
	e.objects = make(map[string]object, len(keys))
	for i, key := range keys {
		e.objects[key] = found[i]
	}
	return e.objects, nil
}

func (e *Evidence) look(ctx context.Context, key string) (object, error) {
	data, _, err := objstore.ReadAll(ctx, e.Store, key, objstore.GetOptions{}, largestObject)
	if errors.Is(err, objstore.ErrNotFound) {
		return object{absent: true}, nil
	}
	if err != nil {
		return object{}, fmt.Errorf("read %s: %w", key, err)
	}
	o := object{size: int64(len(data)), sum: sha256.Sum256(data)}
	o.tells = slices.ContainsFunc(e.Secrets, func(secret string) bool { return strings.Contains(string(data), secret) })
	if rest, below := strings.CutPrefix(key, e.Own+"jobs/"); below {
		if job, _, isLog := strings.Cut(rest, "/logs/"); isLog {
			o.ofJob, o.log = job, string(data)
		}
	}
	return o, nil
}
