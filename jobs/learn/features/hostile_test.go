package features

import (
	"errors"
	"math"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

func model(t testing.TB, scale string, make func([]point, int) *dataset.Block) jobs.Arrays {
	t.Helper()
	a, err := run(t, scaleParams(scale), leaves(fourPoints, 2, make), jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPutWritesWhatWasRead(t *testing.T) {
	_, _, hashed := hashedSpace(t, hashedParams(2, true), 1, [][]jobstest.Record{textsOf("a b")})
	for _, a := range []jobs.Arrays{model(t, ScaleNone, denseBlock), model(t, ScaleMinMax, denseBlock),
		model(t, ScaleStandard, sparseBlock), model(t, ScaleL2, textBlock), hashed} {
		s, err := ReadSpace(a)
		if err != nil {
			t.Fatal(err)
		}
		back := jobs.Arrays{}
		jobs.Add(back, s)
		if jobstest.Digest(back) != jobstest.Digest(a) {
			t.Errorf("%v: other bytes came back", s.shape())
		}
	}
}

func TestHostileSpaces(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"no form":         func(a jobs.Arrays) { delete(a, "features.form") },
		"form 0":          func(a jobs.Arrays) { jobs.PutScalar(a, "features.form", int32(0)) },
		"form 4":          func(a jobs.Arrays) { jobs.PutScalar(a, "features.form", int32(4)) },
		"form of texts":   func(a jobs.Arrays) { jobs.PutScalar(a, "features.form", int32(texts)) },
		"width 0":         func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(0)) },
		"width 3":         func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(3)) },
		"width huge":      func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(1)<<40) },
		"records 0":       func(a jobs.Arrays) { jobs.PutScalar(a, "features.records", int64(0)) },
		"scale unknown":   func(a jobs.Arrays) { a.PutText("features.scale", "zoom") },
		"labels unsorted": func(a jobs.Arrays) { a.PutStrings("labels", jobs.StringsOf("b", "a")) },
		"label of none":   func(a jobs.Arrays) { jobs.Put(a, "labels.records", []int64{0, 3}) },
		"labels of more": func(a jobs.Arrays) {
			jobs.Put(a, "labels.records", []int64{math.MaxInt64, math.MaxInt64})
		},
		"label counts":     func(a jobs.Arrays) { jobs.Put(a, "labels.records", []int64{4}) },
		"mean NaN":         func(a jobs.Arrays) { jobs.Put(a, "features.mean", []float64{math.NaN(), 1}) },
		"mean short":       func(a jobs.Arrays) { jobs.Put(a, "features.mean", []float64{1}) },
		"variance below 0": func(a jobs.Arrays) { jobs.Put(a, "features.variance", []float64{1, -1}) },
		"range reversed":   func(a jobs.Arrays) { jobs.Put(a, "features.min", []float32{9, 0}) },
		"factor 0":         func(a jobs.Arrays) { jobs.Put(a, "features.factor", []float64{1, 0}) },
		"factor infinite":  func(a jobs.Arrays) { jobs.Put(a, "features.factor", []float64{1, math.Inf(1)}) },
		"no factor":        func(a jobs.Arrays) { delete(a, "features.factor") },
		"no shift":         func(a jobs.Arrays) { delete(a, "features.shift") },
	} {
		a := model(t, ScaleStandard, denseBlock)
		spoil(a)
		_, err := ReadSpace(a)
		wantCorrupt(t, name, err)
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"another width": func(a jobs.Arrays) { jobs.PutScalar(a, "features.width", int64(1)) },
		"no terms":      func(a jobs.Arrays) { delete(a, "dictionary.bytes") },
		"n-grams":       func(a jobs.Arrays) { jobs.PutScalar(a, "tokenizer.ngram_max", int32(1<<30)) },
		"standard":      func(a jobs.Arrays) { a.PutText("features.scale", ScaleStandard) },
	} {
		a := model(t, ScaleNone, textBlock)
		spoil(a)
		_, err := ReadSpace(a)
		wantCorrupt(t, name, err)
	}
}

func TestHostilePartials(t *testing.T) {
	phase, err := New(scaleParams(ScaleStandard), protocol.JobSpec{}, "next")
	if err != nil {
		t.Fatal(err)
	}
	partial := func() jobs.Arrays {
		a, _, err := phase.Map(t.Context(), nil, jobs.Leaf{Blocks: leaves(fourPoints, 2, denseBlock)[0]}, nil,
			kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"form":    func(a jobs.Arrays) { jobs.PutScalar(a, "form", int32(9)) },
		"width":   func(a jobs.Arrays) { jobs.PutScalar(a, "width", int64(-1)) },
		"records": func(a jobs.Arrays) { jobs.PutScalar(a, "records", int64(-1)) },
		"sums":    func(a jobs.Arrays) { jobs.Put(a, "sums", []uint64{1}, 1, 1) },
		"squares": func(a jobs.Arrays) { jobs.Put(a, "squares", []uint64{1}, 1, 1) },
		"weight":  func(a jobs.Arrays) { jobs.Put(a, "weight", []uint64{1}, 1, 1) },
		"labels":  func(a jobs.Arrays) { a.PutStrings("labels", jobs.StringsOf("b", "a")) },
		"first":   func(a jobs.Arrays) { delete(a, "first.object") },
	} {
		bad := partial()
		spoil(bad)
		_, err := phase.Merge(bad, partial())
		wantCorrupt(t, name, err)
		_, err = phase.Merge(partial(), bad)
		wantCorrupt(t, name, err)
	}
}

func wantCorrupt(t *testing.T, name string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: want a CORRUPT fault, got %v", name, err)
	}
}

// Whatever the bytes, reading gives a CORRUPT fault or a space that reads blocks and writes itself
// down to the same space.
func FuzzSpace(f *testing.F) {
	f.Add(model(f, ScaleStandard, denseBlock).Encode())
	f.Add(model(f, ScaleStandard, sparseBlock).Encode())
	f.Add(model(f, ScaleL2, textBlock).Encode())
	_, _, hashed := hashedSpace(f, hashedParams(2, true), 1, [][]jobstest.Record{textsOf("a b")})
	f.Add(hashed.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := jobs.Decode(data)
		if err != nil {
			return
		}
		s, err := ReadSpace(a)
		if err != nil {
			wantCorrupt(t, "space", err)
			return
		}
		for _, make := range []func([]point, int) *dataset.Block{denseBlock, sparseBlock, textBlock} {
			_, err := s.NewReader().Read(make(fourPoints[0], 0), nil)
			var fault *protocol.Fault
			if err != nil && (!errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord) {
				t.Fatal(err)
			}
		}
		back := jobs.Arrays{}
		jobs.Add(back, s)
		if again, err := ReadSpace(back); err != nil || again.Width != s.Width {
			t.Fatal(err)
		}
	})
}
