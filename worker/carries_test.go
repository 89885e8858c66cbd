package worker

import (
	"context"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/mem"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// What was kept for some leaves together is read once for all of them. A leaf gets its own arrays, and one for which
// nothing was kept gets none.
func TestCarriesAreReadOnce(t *testing.T) {
	store := &countingStore{Store: mem.New("m")}
	j := &job{id: "a", w: quietWorker(store)}
	task := &pb.Task{Id: &pb.TaskID{Round: 3}}
	for _, piece := range [][]int{{0, 1}, {10}} {
		kept, first := jobs.Arrays{}, piece[0]
		for _, leaf := range piece {
			jobs.Put(kept, strconv.Itoa(leaf)+"/x", []float64{float64(leaf), 0.5})
		}
		ref, err := j.w.putArrays(t.Context(), j.before(task), kept)
		if err != nil {
			t.Fatal(err)
		}
		task.Carries = append(task.Carries, &pb.CarryPiece{First: uint32(first), End: uint32(first + len(piece)),
			Object: ref})
	}
	n := &nodeTask{job: j, task: task}
	for _, leaf := range []int{0, 1, 2, 10} {
		carry, err := n.carry(t.Context(), leaf)
		if err != nil {
			t.Fatal(err)
		}
		if leaf == 2 {
			if carry != nil {
				t.Errorf("leaf 2 carries %v", carry.Names())
			}
			continue
		}
		if x, err := jobs.Get[float64](carry, "x"); err != nil || len(carry) != 1 ||
			!slices.Equal(x, []float64{float64(leaf), 0.5}) {
			t.Errorf("leaf %d carries %v of %v, %v", leaf, x, carry.Names(), err)
		}
	}
	if store.reads != 2 {
		t.Errorf("two pieces were read in %d reads", store.reads)
	}
}

type countingStore struct {
	objstore.Store
	reads int
}

func (s *countingStore) Get(ctx context.Context, key string, options objstore.GetOptions) (
	io.ReadCloser, objstore.Info, error,
) {
	s.reads++
	return s.Store.Get(ctx, key, options)
}
