package findings

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	"golang.org/x/sync/errgroup"
)

const (
	maxObject = 4 << 20 // bytes of what a round found
	maxKept   = 1 << 20 // larger ones are not kept
	maxCache  = 16 << 20
	atOnce    = 8 // reads of one call
	// maxAnswer bounds the bytes that one call reads: all are in memory until it has answered.
	maxAnswer = 16 << 20
)

// ErrNotRead: the budget of the call was spent before this object's turn.
var ErrNotRead = errors.New("not read: this answer has read as much of the store as one may")

var errOtherBytes = errors.New("its bytes are not those that the round left")

// Reader reads what rounds found. What it has read it keeps, by digest, in at most 16 MiB.
type Reader struct {
	store objstore.Store
	mu    sync.Mutex
	kept  kept
}

// New reads from a cluster's store.
func New(store objstore.Store) *Reader { return &Reader{store: store, kept: newKept(maxCache)} }

// Wanted is what a round of a job found.
type Wanted struct {
	Job   string
	Round state.RoundRecord
}

// Found is what was wanted, or why it could not be read.
type Found struct {
	Metrics []jobs.Metric
	Err     error
}

// Read returns what is wanted, in its order. It reads at most budget objects of the store, and maxAnswer bytes; for the
// others the error is ErrNotRead. What is kept costs nothing.
func (r *Reader) Read(ctx context.Context, wanted []Wanted, budget int) []Found {
	found, left := make([]Found, len(wanted)), int64(maxAnswer)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, w := range wanted {
		if w.Round.Metrics.IsZero() {
			continue
		}
		if metrics, ok := r.known(w.Round.Metrics.SHA256); ok {
			found[i].Metrics = metrics
			continue
		}
		if budget--; budget < 0 || w.Round.Metrics.Size > left {
			found[i].Err = ErrNotRead
			continue
		}
		left -= min(w.Round.Metrics.Size, maxObject)
		group.Go(func() error {
			found[i].Metrics, found[i].Err = r.read(ctx, w)
			return nil
		})
	}
	_ = group.Wait() // errors are of single objects
	return found
}

func (r *Reader) known(sum [32]byte) ([]jobs.Metric, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept.get(sum)
}

func (r *Reader) read(ctx context.Context, w Wanted) ([]jobs.Metric, error) {
	sum := w.Round.Metrics.SHA256
	key := protocol.ObjectKey(w.Job, w.Round.Number, sum)
	data, _, err := objstore.ReadAll(ctx, r.store, key, objstore.GetOptions{},
		min(maxObject, w.Round.Metrics.Size)) // what the round said of it was counted
	if err != nil {
		return nil, fmt.Errorf("read what round %d found: %w", w.Round.Number, err)
	}
	if sha256.Sum256(data) != sum {
		return nil, fmt.Errorf("read what round %d found: %w", w.Round.Number, errOtherBytes)
	}
	var metrics []jobs.Metric
	if err := json.Unmarshal(data, &metrics); err != nil {
		return nil, fmt.Errorf("read what round %d found: %w", w.Round.Number, err)
	}
	if len(data) <= maxKept {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.kept.put(sum, metrics, len(data))
	}
	return metrics, nil
}
