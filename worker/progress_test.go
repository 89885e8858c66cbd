package worker

import (
	"iter"
	"testing"

	"github.com/gram-compute/gram/dataset"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// A task that waits for memory tells nothing; once it works, each block tells that it got on.
func TestProgressIsTold(t *testing.T) {
	w := &worker{held: make(map[string]*heldTask)}
	task := &pb.Task{Id: &pb.TaskID{JobId: "a"}, Token: &pb.LeaseToken{Term: 1, Sequence: 2, Epoch: 3}}
	ctx := withProgress(t.Context(), w.hold(task, func(error) {}))
	told := func() uint64 { return w.holding()[0].GetProgress() }
	if told() != 0 {
		t.Errorf("told %d before it began", told())
	}
	advance(ctx)
	var blocks iter.Seq2[*dataset.Block, error] = func(yield func(*dataset.Block, error) bool) {
		for yield(nil, nil) {
		}
	}
	seen := uint64(1)
	for range advancing(ctx, blocks) {
		if seen++; told() != seen {
			t.Fatalf("told %d, want %d", told(), seen)
		}
		if seen == 4 {
			break
		}
	}
	advance(t.Context()) // of no task
	if token := w.holding()[0].GetToken(); token.GetEpoch() != 3 {
		t.Errorf("token %v", token)
	}
}
