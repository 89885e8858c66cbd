package main

import (
	"reflect"
	"testing"
)

func TestParseReadsValuesByNameAndUnit(t *testing.T) {
	got := parse(`goos: linux
BenchmarkScore/avx2-2     	  783714	      1501 ns/op	    666149 documents/s	       0 B/op
BenchmarkScore/avx2-2     	  783714	      1502 ns/op
BenchmarkBroken
PASS
ok  	some/package	10.388s
`)
	want := map[string][]float64{
		"Score/avx2 ns/op": {1501, 1502}, "Score/avx2 documents/s": {666149}, "Score/avx2 B/op": {0},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRowTellsTheMedianAndWhatIsMissing(t *testing.T) {
	if got := (row{unit: "ms", values: []float64{4, 1, 3}}).figure(); got != "3 ms" {
		t.Errorf("%q", got)
	}
	if got := (row{unit: "ms"}).figure(); got != "not measured" {
		t.Errorf("%q", got)
	}
}
