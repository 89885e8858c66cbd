package worker

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
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
		n := &nodeTask{job: &job{w: w, inputs: []*input{in}}, at: place{leaf: shard},
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
