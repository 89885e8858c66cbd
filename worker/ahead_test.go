package worker

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// toldStore tells of the first byte of each read.
type toldStore struct {
	objstore.Store

	heard chan int64
}

func (s *toldStore) Get(
	ctx context.Context, key string, opt objstore.GetOptions,
) (io.ReadCloser, objstore.Info, error) {
	s.heard <- opt.Offset
	return s.Store.Get(ctx, key, opt)
}

// While a task of several leaves computes one, the shard of the next is fetched; none after its last leaf, none that is
// in memory, and none of files.
func TestNextShardIsFetched(t *testing.T) {
	store := mem.New("ahead")
	if _, err := store.Put(t.Context(), "f", []byte(strings.Repeat("a\tx\n", 400_000))); err != nil {
		t.Fatal(err)
	}
	told := &toldStore{Store: store, heard: make(chan int64, 100)}
	spec := protocol.Input{URI: "mem://ahead/f", Format: "tsv", Text: protocol.Column{Number: 2},
		Label: protocol.Column{Number: 1}, ShardBytes: 400_000, Verify: protocol.VerifyOff}.WithDefaults()
	in := &input{spec: spec, store: told, name: "f", far: true,
		ops: kernelops.Generic()}
	manifest, shards, err := in.list(t.Context())
	if err == nil {
		err = in.ready(manifest, shards)
	}
	if err != nil || len(shards) != 4 {
		t.Fatal(len(shards), err)
	}
	w := &worker{cache: newBlockCache(1 << 30), cfg: Config{Memory: 1 << 30, Slots: 2}}
	read := func(far bool, shard int, level uint32, wants ...int64) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in.far = far
		if err := in.ready(manifest, shards); err != nil { // without what the last read fetched
			t.Fatal(err)
		}
		n := &nodeTask{job: &job{w: w, tasks: new(run.Tasks), inputs: []*input{in}}, at: place{leaf: shard},
			task: &pb.Task{TreeLeaves: 4, Id: &pb.TaskID{Level: level, Index: uint32(shard) >> level}}}
		for len(told.heard) > 0 {
			<-told.heard
		}
		for _, err := range n.read(ctx, jobs.Input, shard) {
			if err != nil {
				t.Fatal(err)
			}
		}
		got := map[int64]bool{}
		for range wants {
			got[<-told.heard] = true
		}
		for _, want := range wants {
			if !got[want] {
				t.Errorf("shard %d: reads from %v, want %v", shard, got, wants)
			}
		}
		for len(told.heard) > 0 {
			if at := <-told.heard; !slices.Contains(wants, at) {
				t.Errorf("shard %d: a read from %d as well", shard, at)
			}
		}
	}
	begin := func(shard int) int64 { return shards[shard].Pieces[0].Start - 1 }
	read(true, 1, 1, begin(1))           // the last leaf of its task
	read(false, 0, 2, 0)                 // not far
	read(true, 2, 2, begin(2), begin(3)) // the next is fetched
	read(true, 3, 2, begin(3))           // the last of the tree
	w.cache = newBlockCache(1 << 30)
	read(true, 3, 2, begin(3))
	read(true, 2, 2, begin(2)) // the next is in memory
}

// endedStore counts the reads that have not ended.
type endedStore struct {
	objstore.Store

	begun, open atomic.Int32
}

func (s *endedStore) Get(
	ctx context.Context, key string, opt objstore.GetOptions,
) (io.ReadCloser, objstore.Info, error) {
	s.open.Add(1)
	s.begun.Add(1)
	context.AfterFunc(ctx, func() { s.open.Add(-1) })
	return s.Store.Get(ctx, key, opt)
}

// A task whose leaves read other shards than the next ones has few that it fetched in vain, and none in the end.
func TestFewShardsAreFetchedInVain(t *testing.T) {
	store := mem.New("vain")
	if _, err := store.Put(t.Context(), "f", []byte(strings.Repeat("a\tx\n", 100_000))); err != nil {
		t.Fatal(err)
	}
	ended := &endedStore{Store: store}
	spec := protocol.Input{URI: "mem://vain/f", Format: "tsv", Text: protocol.Column{Number: 2},
		Label: protocol.Column{Number: 1}, ShardBytes: 20_000, Verify: protocol.VerifyOff}.WithDefaults()
	in := &input{spec: spec, store: store, name: "f", far: true, ops: kernelops.Generic()}
	manifest, shards, err := in.list(t.Context())
	if in.store = ended; err == nil {
		err = in.ready(manifest, shards)
	}
	if err != nil || len(shards) < 16 {
		t.Fatal(len(shards), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := &nodeTask{job: &job{w: &worker{cfg: Config{Memory: 1 << 30, Slots: 1}}, tasks: new(run.Tasks),
		inputs: []*input{in}},
		task: &pb.Task{TreeLeaves: 64, Id: &pb.TaskID{Level: 6}}}
	calls := int32(0)
	for shard := 0; shard+1 < len(shards); shard += 2 {
		n.fetchNext(ctx, jobs.Input, shard)
		calls++
	}
	late := time.Now().Add(20 * time.Second)
	for ended.begun.Load() < calls || ended.open.Load() > aheadMost {
		if runtime.Gosched(); time.Now().After(late) {
			t.Fatalf("of %d fetches %d began, and %d go on", calls, ended.begun.Load(), ended.open.Load())
		}
	}
	cancel()
	for ended.open.Load() > 0 {
		if runtime.Gosched(); time.Now().After(late) {
			t.Fatalf("%d fetches outlive their task", ended.open.Load())
		}
	}
}
