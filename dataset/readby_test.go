package dataset

import (
	"reflect"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// Numbers are read by what ReadBy names, and by nothing else of the CPU; records are the same.
func TestReadBy(t *testing.T) {
	one := 1
	for name, c := range map[string]struct {
		in   func(*protocol.Input)
		data string
	}{
		"csv":    {nil, "1,2.5,-3\n4,5,6\n"},
		"libsvm": {func(in *protocol.Input) { in.IndexBase, in.Width = &one, 9 }, "1 1:2 2:3.5\n2 1:4\n"},
	} {
		store := storeOf(t, map[string]string{"f": c.data})
		s, shards, err := openInput(store, formatInput(name, c.in))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := readRowsAll(s, shards)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		count := func(_ []float32, _ []byte, _ int, _, _ byte, _, _ uint64) (numbers, used int) { calls++; return 0, 0 }
		s.ReadBy(count)
		got, _, err := readRowsAll(s, shards)
		if err != nil || calls != 2 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d calls, want 2; %v %v", name, calls, got, err)
		}
		s.ReadBy(nil)
		if got, _, err = readRowsAll(s, shards); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
	}
}
