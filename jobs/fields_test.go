package jobs_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

type color int32

const (
	red color = iota + 1
	green
	blue
)

var shapes = []string{"square", "circle"}

// stored has a field of every sort.
type stored struct {
	weight      []float64
	width       int
	mean        []float32 // a row for each weight
	few         []int32   // nil where left out
	radius      float32
	size        int
	color       color
	even, warm  bool
	first, last int64
	text        string
	order       string
	shape       uint8
	labels      jobs.Strings
	inner       *inner
	outer       *inner // nil where left out
}

type inner struct{ count uint64 }

func (i *inner) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "count", &i.count)
	f.Require(i.count > 0, "a count of 0")
}

func (s *stored) Fields(f *jobs.Fields) {
	f.Kind("Stored", 3)
	jobs.List(f, "weight", &s.weight)
	f.Dim("mean", 1, &s.width)
	jobs.List(f, "mean", &s.mean, len(s.weight), s.width)
	jobs.Optional(f, "few", &s.few, 2)
	jobs.Scalar(f, "radius", &s.radius)
	f.Int("size", &s.size, 1, 10)
	jobs.Enum(f, "color", &s.color, red, blue)
	jobs.Flag[uint8](f, "even", &s.even)
	jobs.Flag[int32](f, "warm", &s.warm)
	jobs.Tuple(f, "ends", &s.first, &s.last)
	f.Text("text", &s.text)
	f.Choice("order", &s.order, "rising", "falling")
	jobs.Named(f, "shape", &s.shape, shapes)
	f.Strings("labels", &s.labels)
	jobs.Make(f, &s.inner).Fields(f)
	if f.Has("outer", s.outer != nil) {
		outer := jobs.Make(f, &s.outer)
		jobs.Scalar(f, "outer", &outer.count)
	}
	f.Check(func() error {
		if s.first > s.last {
			return jobs.Malformed("from %d to %d", s.first, s.last)
		}
		return nil
	})
}

func storedByHand() *stored {
	return &stored{weight: []float64{2, 5}, width: 3, mean: []float32{1, 2, 3, 4, 5, 6}, few: []int32{7, 8},
		radius: 0.5,
		size:   10, color: green, even: true, first: -4, last: 9, text: "any", order: "falling", shape: 1,
		labels: jobs.StringsOf("a", ""), inner: &inner{3}, outer: &inner{4}}
}

func arraysByHand() jobs.Arrays {
	a := jobs.Arrays{}
	a.PutKind("Stored", 3)
	jobs.Put(a, "weight", []float64{2, 5})
	jobs.Put(a, "mean", []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	jobs.Put(a, "few", []int32{7, 8})
	jobs.PutScalar(a, "radius", float32(0.5))
	jobs.PutScalar(a, "size", int64(10))
	jobs.PutScalar(a, "color", int32(2))
	jobs.PutScalar(a, "even", uint8(1))
	jobs.PutScalar(a, "warm", int32(0))
	jobs.Put(a, "ends", []int64{-4, 9})
	a.PutText("text", "any")
	a.PutText("order", "falling")
	a.PutText("shape", "circle")
	a.PutStrings("labels", jobs.StringsOf("a", ""))
	jobs.PutScalar(a, "count", uint64(3))
	jobs.PutScalar(a, "outer", uint64(4))
	return a
}

func TestFieldsByHand(t *testing.T) {
	s := storedByHand()
	if got, want := jobs.ArraysOf(s), arraysByHand(); string(got.Encode()) != string(want.Encode()) {
		t.Errorf("written %v, want %v", got, want)
	}
	if !reflect.DeepEqual(s, storedByHand()) {
		t.Errorf("writing changed it: %+v", s)
	}
	back, err := jobs.Read(arraysByHand(), &stored{})
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("read %+v, want %+v: %v", back, s, err)
	}
}

// What was left out is nil, whatever was there before.
func TestFieldsLeftOut(t *testing.T) {
	s := storedByHand()
	s.few, s.outer = nil, nil
	a := jobs.ArraysOf(s)
	for _, name := range []string{"few", "outer"} {
		if _, ok := a[name]; ok {
			t.Errorf("array %q was written", name)
		}
	}
	back, err := jobs.Read(a, &stored{few: []int32{1}})
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("read %+v, want %+v: %v", back, s, err)
	}
	s.few = []int32{} // which is not nil
	mustPanic(t, "few", func() { jobs.ArraysOf(s) })
}

func TestAddLeavesTheRest(t *testing.T) {
	a := jobs.Arrays{}
	a.PutText("beside", "it")
	jobs.Add(a, &inner{5})
	if beside, err := a.Text("beside"); err != nil || beside != "it" || len(a) != 2 {
		t.Error(a, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"another kind":       func(a jobs.Arrays) { a.PutKind("Other", 3) },
		"another version":    func(a jobs.Arrays) { a.PutKind("Stored", 4) },
		"missing list":       func(a jobs.Arrays) { delete(a, "weight") },
		"missing scalar":     func(a jobs.Arrays) { delete(a, "radius") },
		"missing int":        func(a jobs.Arrays) { delete(a, "size") },
		"missing flag":       func(a jobs.Arrays) { delete(a, "even") },
		"missing tuple":      func(a jobs.Arrays) { delete(a, "ends") },
		"missing text":       func(a jobs.Arrays) { delete(a, "text") },
		"missing name":       func(a jobs.Arrays) { delete(a, "shape") },
		"missing strings":    func(a jobs.Arrays) { delete(a, "labels.offsets") },
		"missing dimension":  func(a jobs.Arrays) { delete(a, "mean") },
		"another type":       func(a jobs.Arrays) { jobs.Put(a, "weight", []float32{2, 5}) },
		"another scalar":     func(a jobs.Arrays) { jobs.PutScalar(a, "radius", 0.5) },
		"int of I32":         func(a jobs.Arrays) { jobs.PutScalar(a, "size", int32(3)) },
		"flag of I32":        func(a jobs.Arrays) { jobs.PutScalar(a, "even", int32(1)) },
		"text of another":    func(a jobs.Arrays) { jobs.Put(a, "text", []int32{1}) },
		"text of two rows":   func(a jobs.Arrays) { jobs.Put(a, "text", []uint8{1, 2}, 2, 1) },
		"other rows":         func(a jobs.Arrays) { jobs.Put(a, "weight", []float64{2, 5, 6}) },
		"one dimension":      func(a jobs.Arrays) { jobs.Put(a, "mean", []float32{1, 2, 3, 4, 5, 6}) },
		"three dimensions":   func(a jobs.Arrays) { jobs.Put(a, "mean", []float32{1, 2, 3, 4, 5, 6}, 2, 3, 1) },
		"scalar of one":      func(a jobs.Arrays) { jobs.Put(a, "radius", []float32{1}) },
		"optional too long":  func(a jobs.Arrays) { jobs.Put(a, "few", []int32{1, 2, 3}) },
		"tuple too short":    func(a jobs.Arrays) { jobs.Put(a, "ends", []int64{1}) },
		"int below":          func(a jobs.Arrays) { jobs.PutScalar(a, "size", int64(0)) },
		"int above":          func(a jobs.Arrays) { jobs.PutScalar(a, "size", int64(11)) },
		"int far above":      func(a jobs.Arrays) { jobs.PutScalar(a, "size", int64(math.MaxInt64)) },
		"enum below":         func(a jobs.Arrays) { jobs.PutScalar(a, "color", int32(0)) },
		"enum above":         func(a jobs.Arrays) { jobs.PutScalar(a, "color", int32(4)) },
		"flag 2":             func(a jobs.Arrays) { jobs.PutScalar(a, "even", uint8(2)) },
		"flag 3 of I32":      func(a jobs.Arrays) { jobs.PutScalar(a, "warm", int32(3)) },
		"flag below 0":       func(a jobs.Arrays) { jobs.PutScalar(a, "warm", int32(-1)) },
		"unknown choice":     func(a jobs.Arrays) { a.PutText("order", "rising ") },
		"unknown name":       func(a jobs.Arrays) { a.PutText("shape", "") },
		"strings that fall":  func(a jobs.Arrays) { jobs.Put(a, "labels.offsets", []int64{0, 2, 1}) },
		"refused by Require": func(a jobs.Arrays) { jobs.PutScalar(a, "count", uint64(0)) },
		"refused by Check":   func(a jobs.Arrays) { jobs.Put(a, "ends", []int64{9, 8}) },
	} {
		a := arraysByHand()
		spoil(a)
		s, err := jobs.Read(a, &stored{})
		wantCorrupt(t, name, err)
		if s != nil {
			t.Errorf("%s: read %+v", name, s)
		}
	}
}

func wantCorrupt(t *testing.T, name string, err error) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Errorf("%s: want a CORRUPT fault, got %v", name, err)
	}
}

// A text that is long is not told whole.
func TestRefusedTextIsCut(t *testing.T) {
	a := arraysByHand()
	a.PutText("order", strings.Repeat("x", 1000))
	if _, err := jobs.Read(a, &stored{}); err == nil || len(err.Error()) > 200 {
		t.Error(err)
	}
}

// Reading ends at the first bad field: what depends on it is not reached.
func TestReadingEndsAtTheFirstBadField(t *testing.T) {
	for name, fields := range map[string]func(f *jobs.Fields, size *int){
		"out of range": func(f *jobs.Fields, size *int) { f.Int("zero", size, 1, 9) },
		"missing":      func(f *jobs.Fields, size *int) { f.Int("none", size, 0, 9) },
		"required":     func(f *jobs.Fields, size *int) { f.Require(*size > 0, "a size of %d", *size) },
		"checked":      func(f *jobs.Fields, _ *int) { f.Check(func() error { return jobs.Malformed("no size") }) },
	} {
		a, quotient := jobs.Arrays{}, 7
		jobs.PutScalar(a, "zero", int64(0))
		_, err := jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) {
			size := 0
			fields(f, &size)
			quotient = 1 / size
		}))
		wantCorrupt(t, name, err)
		if quotient != 7 {
			t.Errorf("%s: a later field was reached", name)
		}
	}
}

// What is written is not refused: there is nobody to tell.
func TestWritingRefusesNothing(t *testing.T) {
	a := jobs.ArraysOf(jobs.FieldsFunc(func(f *jobs.Fields) {
		size := 70
		f.Int("size", &size, 1, 9)
		f.Require(false, "never")
		f.Check(func() error { return errors.New("never") })
		if f.Reading() {
			t.Error("it reads")
		}
	}))
	if size, err := jobs.GetScalar[int64](a, "size"); err != nil || size != 70 {
		t.Error(size, err)
	}
}

// Only refusals are errors: a mistake in Fields panics as it would anywhere.
func TestPanicsAreNotSwallowed(t *testing.T) {
	mine := errors.New("mine")
	for name, cause := range map[string]any{"error": mine, "text": "text", "fault": jobs.Malformed("a fault")} {
		func() {
			defer func() {
				if got := recover(); got != cause {
					t.Errorf("%s: recovered %v", name, got)
				}
			}()
			_, err := jobs.Read(jobs.Arrays{}, jobs.FieldsFunc(func(*jobs.Fields) { panic(cause) }))
			t.Errorf("%s: returned %v", name, err)
		}()
	}
	mustPanic(t, "index", func() {
		_, err := jobs.Read(jobs.Arrays{}, jobs.FieldsFunc(func(f *jobs.Fields) {
			var list []int32
			jobs.Optional(f, "list", &list)
			list[0] = 1
		}))
		t.Error(err)
	})
}

func TestWritingAnotherShapePanics(t *testing.T) {
	for name, spoil := range map[string]func(*stored){
		"rows":     func(s *stored) { s.weight = s.weight[:1] },
		"width":    func(s *stored) { s.width = 2 },
		"optional": func(s *stored) { s.few = []int32{1} },
		"name":     func(s *stored) { s.shape = 2 },
	} {
		s := storedByHand()
		spoil(s)
		mustPanic(t, name, func() { jobs.ArraysOf(s) })
	}
}

func mustPanic(t *testing.T, name string, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	do()
}
