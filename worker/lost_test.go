package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// flippingStore flips a bit of what it reads, as long as it has flips left; it counts reads and renewals.
type flippingStore struct {
	objstore.Store
	flips, reads, renewals atomic.Int64
}

func (s *flippingStore) Refresh() { s.renewals.Add(1) }

func (s *flippingStore) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info,
	error) {
	s.reads.Add(1)
	body, info, err := s.Store.Get(ctx, key, opt)
	if err != nil || s.flips.Add(-1) < 0 {
		return body, info, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, info, err
	}
	data[0] ^= 1
	return io.NopCloser(strings.NewReader(string(data))), info, body.Close()
}

func quietWorker(store objstore.Store) *worker {
	return &worker{store: store, cfg: Config{Logger: slog.New(slog.DiscardHandler)}}
}

// A damaged object is read four times, over fresh connections, before the fault names it by round, digest and size.
func TestADamagedObjectIsReadAgain(t *testing.T) {
	for flips, want := range map[int64]struct {
		reads    int64
		after    time.Duration
		readable bool
	}{0: {1, 0, true}, 1: {2, 50 * time.Millisecond, true}, 3: {4, 1300 * time.Millisecond, true},
		4: {4, 1300 * time.Millisecond, false}} {
		synctest.Test(t, func(t *testing.T) {
			store := &flippingStore{Store: mem.New("m")}
			w := quietWorker(store)
			ref, err := w.put(t.Context(), made{"a", 3}, []byte("a partial"))
			if err != nil {
				t.Fatal(err)
			}
			store.flips.Store(flips)
			began := time.Now()
			data, err := w.get(t.Context(), made{"a", 3}, ref)
			if took := time.Since(began); (err == nil) != want.readable || store.reads.Load() != want.reads ||
				store.renewals.Load() != want.reads-1 || took != want.after {
				t.Errorf("%d flips: %q, %v after %v; %d reads, %d renewals", flips, data, err, took, store.reads.Load(),
					store.renewals.Load())
			}
			if want.readable {
				return
			}
			failure := failureOf(t.Context(), err)
			lost := failure.GetLost()
			if failure.GetCode() != "LOST" || lost.GetRound() != 3 ||
				string(lost.GetObject().GetSha256()) != string(ref.GetSha256()) || lost.GetObject().GetSize() != 9 {
				t.Errorf("reported as %v", failure)
			}
		})
	}
}

func TestAMissingObjectIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := quietWorker(mem.New("m"))
		_, err := w.get(t.Context(), made{"a", 0}, &pb.ObjectRef{Sha256: make([]byte, 32), Size: 5})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Lost == nil || !errors.Is(err, objstore.ErrNotFound) ||
			!strings.Contains(err.Error(), "jobs/a/00/") {
			t.Errorf("%v", err)
		}
	})
}

// The state and the carries of a task are those of the round it names; a coordinator that names none means the one
// before.
func TestWhichRoundMadeTheState(t *testing.T) {
	j := &job{id: "a"}
	task := &pb.Task{Id: &pb.TaskID{Round: 5}}
	if got := j.before(task); got.round != 4 {
		t.Errorf("round %d", got.round)
	}
	zero := uint32(0)
	task.StateRound = &zero
	if got := j.before(task); got.round != 0 {
		t.Errorf("round %d", got.round)
	}
}

// A refusal of a spec's store is the cluster's where the cluster's own store refuses too.
func TestWhoseRefusalItIs(t *testing.T) {
	spec := protocol.TaskFault(protocol.CodeStoreDenied, "the store refuses to hand out the input")
	for denies, want := range map[bool]protocol.Class{false: protocol.ClassTask, true: protocol.ClassInfrastructure} {
		renewing := &flippingStore{Store: mem.New("in")}
		j := &job{id: "a", w: quietWorker(&statStore{Store: mem.New("m"), denies: denies}),
			inputs: []*input{{store: renewing}}, output: new(output)}
		var fault *protocol.Fault
		if err := j.refused(t.Context(), spec); !errors.As(err, &fault) || fault.Class != want ||
			renewing.renewals.Load() != 1 {
			t.Errorf("the own store refuses %v: %v, class %v", denies, err, fault.Class)
		}
	}
	if err := (&job{output: new(output)}).refused(t.Context(), io.EOF); err != io.EOF {
		t.Error(err)
	}
}

type statStore struct {
	objstore.Store
	denies bool
}

func (s *statStore) Stat(ctx context.Context, key string) (objstore.Info, error) {
	if s.denies {
		return objstore.Info{}, objstore.ErrDenied
	}
	return s.Store.Stat(ctx, key)
}
