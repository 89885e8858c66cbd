package protocol

import "testing"

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "record", "0 records"}, {1, "record", "1 record"}, {2, "training record", "2 training records"},
		{1, "class", "1 class"}, {2, "class", "2 classes"}, {2, "query", "2 queries"}, {2, "key", "2 keys"},
		{1, "leaf", "1 leaf"}, {3, "leaf", "3 leaves"}, {2, "batch", "2 batches"}, {2, "epoch", "2 epochs"}, {2, "index", "2 indexes"},
	} {
		if got := Counted(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := Counted(uint64(1), "task") + " " + Were(1) + ", 2 " + Were(2); got != "1 task was, 2 were" {
		t.Errorf("%q", got)
	}
}
