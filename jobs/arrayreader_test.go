package jobs_test

import (
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
)

// Reads give what is there until one fails; its error stays, and what follows is nothing.
func TestArrayReader(t *testing.T) {
	a := jobs.Arrays{}
	jobs.Put(a, "list", []int32{1, 2, 3})
	jobs.PutScalar(a, "one", 2.5)
	a.PutText("name", "x")
	r := jobs.ArrayReader{Arrays: a}
	if list, v, name := jobs.ReadArray[int32](&r, "list", 3), jobs.ReadScalar[float64](&r, "one"), r.Text("name"); r.Err != nil ||
		!slices.Equal(list, []int32{1, 2, 3}) || v != 2.5 || name != "x" {
		t.Error(list, v, name, r.Err)
	}
	if list := jobs.ReadArray[int32](&r, "list", 4); list != nil || r.Err == nil {
		t.Error(list, r.Err)
	}
	first := r.Err
	if list, v, name := jobs.ReadArray[int32](&r, "list"), jobs.ReadScalar[float64](&r, "two"), r.Text("name"); r.Err != first || list != nil || v != 0 || name != "" {
		t.Error(list, v, name, r.Err)
	}
}
