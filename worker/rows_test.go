package worker

import (
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/run"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

// A leaf over a logical block reads parts of several shards, in memory or not, and a fault in it names all of them.
func TestWhereABlockIsRead(t *testing.T) {
	store := mem.New("in")
	if _, err := store.Put(t.Context(), "f.csv", []byte("1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n")); err != nil {
		t.Fatal(err)
	}
	spec := protocol.Input{URI: "mem://in/", Format: "csv", ShardBytes: 12}.WithDefaults()
	in := &input{spec: spec, store: store, ops: kernelops.Generic()}
	manifest, shards, err := in.list(t.Context())
	if err == nil {
		err = in.ready(manifest, shards)
	}
	if err != nil || len(shards) != 2 {
		t.Fatal(shards, err)
	}
	for name, budget := range map[string]int64{"from the store": 0, "from memory": 1 << 20} {
		w := &worker{cache: newBlockCache(budget)}
		n := &nodeTask{job: &job{w: w, tasks: new(run.Tasks), inputs: []*input{in}}, at: place{leaf: 4}}
		var got []float32
		for shard, part := range [][2]int64{{1, 3}, {0, 2}} {
			for block, err := range n.readRange(t.Context(), jobs.Input, shard, part[0], part[1]) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, firstColumn(block)...)
			}
		}
		if len(got) != 4 || got[0] != 2 || got[1] != 3 || got[2] != 4 || got[3] != 5 {
			t.Errorf("%s: %v", name, got)
		}
		const want = "leaf 4, reading shard 0 (f.csv bytes 0-12), then shard 1 (f.csv bytes 12-24)"
		var fault *protocol.Fault
		if err := n.placed(protocol.TaskFault(protocol.CodePanic, "no")); !errors.As(err, &fault) ||
			fault.What != want+": no" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func firstColumn(block *dataset.Block) (column []float32) {
	for i := range block.IDs {
		column = append(column, block.Dense.Row(i)[0])
	}
	return column
}

// A phase knows a record by its place and a column by its number; a fault gets the line of the one, and the name that
// the header gives the other.
func TestFaultsHaveLinesAndNames(t *testing.T) {
	store := mem.New("in")
	if _, err := store.Put(t.Context(), "f.csv", []byte("age,color,size\n1,red,2\n3,blue,4\n")); err != nil {
		t.Fatal(err)
	}
	spec := protocol.Input{URI: "mem://in/", Format: "csv", Header: true,
		Categorical: []protocol.Column{{Name: "color"}}}.WithDefaults()
	in := &input{spec: spec, store: store, ops: kernelops.Generic()}
	manifest, shards, err := in.list(t.Context())
	if err == nil {
		err = in.ready(manifest, shards)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := &nodeTask{job: &job{inputs: []*input{in}}}
	record := dataset.ByPlace("f.csv", 23)
	for want, fault := range map[string]error{
		`f.csv, line 3 (byte 23): another category`: record.Fault("another category"),
		`f.csv, line 3 (byte 23): value 2 of the vector ("size") is missing`: record.
			Fault("value 2 of the vector is missing").OfColumn(2),
		`INPUT_EMPTY: column 1 ("age") has no number`: protocol.EmptyFault("column 1 has no number").OfColumn(1),
		`INPUT_EMPTY: column 9 has no number`:         protocol.EmptyFault("column 9 has no number").OfColumn(9),
	} {
		err := n.located(t.Context(), fault)
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if step := n.job.named(t.Context(), err); step.Error() != err.Error() { // of the pieces that it folds
			t.Errorf("%v is named again: %v", err, step)
		}
	}
	if err := n.job.named(t.Context(), protocol.EmptyFault("column 2 has no number").OfColumn(2)); !strings.Contains(
		err.Error(), `column 2 ("size") has`) {
		t.Errorf("of a step: %v", err)
	}
}
