package evaluation

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

func mistake(i int) Mistake {
	return Mistake{ID: dataset.Identity{Object: fmt.Sprint("object-", i%3), Offset: int64(i)}, Truth: "a", Decided: "b",
		Picture: []float32{float32(i), 1}}
}

func digestOf(s *Mistakes) string {
	return jobstest.Digest(jobs.ArraysOf(sample{s}))
}

// sample is mistakes as the arrays "m".
type sample struct{ *Mistakes }

func (n sample) Fields(f *jobs.Fields) { MistakesFields(f, "m", &n.Mistakes) }

func readNamed(a jobs.Arrays) (s *Mistakes, err error) {
	_, err = jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) { MistakesFields(f, "m", &s) }))
	return s, err
}

// However mistakes are ordered, cut into parts, stored and merged, the sample has the same bytes.
func TestMistakesDoNotDependOnCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, size := rapid.IntRange(0, 30).Draw(rt, "n"), rapid.IntRange(1, 12).Draw(rt, "size")
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := 0; i < n && yield(i); i++ {
			}
		})).Draw(rt, "order")
		cut := rapid.IntRange(0, n).Draw(rt, "cut")
		whole, left, right := NewMistakes(size), NewMistakes(size), NewMistakes(size)
		for at, i := range order {
			part := left
			if at >= cut {
				part = right
			}
			part.Offer(mistake(i))
			whole.Offer(mistake(n - 1 - at))
		}
		back, err := readNamed(jobs.ArraysOf(sample{right}))
		if err != nil {
			rt.Fatal(err)
		}
		left.Merge(back)
		if digestOf(left) != digestOf(whole) {
			rt.Errorf("%v, want %v", left.List(), whole.List())
		}
		if len(left.List()) != min(n, size) {
			rt.Errorf("%d of %d mistakes kept", len(left.List()), n)
		}
	})
}

// No mistake is preferred for its place.
func TestMistakesAreSpread(t *testing.T) {
	s := NewMistakes(100)
	for i := range 1000 {
		s.Offer(Mistake{ID: dataset.Identity{Object: "a", Offset: int64(i)}})
	}
	late := 0
	for _, m := range s.List() {
		if m.ID.Offset >= 500 {
			late++
		}
	}
	if late < 35 || late > 65 { // 3 standard deviations of 5
		t.Errorf("%d of 100 from the second half", late)
	}
}

func TestOfferCopiesThePicture(t *testing.T) {
	s, m := NewMistakes(1), mistake(4)
	s.Offer(m)
	m.Picture[0] = 9
	if got := s.List()[0].Picture[0]; got != 4 {
		t.Errorf("picture %v", got)
	}
}

func TestHostileMistakes(t *testing.T) {
	for name, spoil := range map[string]func(a jobs.Arrays){
		"size 0":       func(a jobs.Arrays) { jobs.PutScalar(a, "m.size", int64(0)) },
		"too many":     func(a jobs.Arrays) { jobs.PutScalar(a, "m.size", int64(1)) },
		"few objects":  func(a jobs.Arrays) { a.PutStrings("m.objects", jobs.StringsOf("a")) },
		"few truths":   func(a jobs.Arrays) { a.PutStrings("m.truth", jobs.StringsOf("a")) },
		"few pictures": func(a jobs.Arrays) { jobs.Put(a, "m.pictures", []float32{1}, 1, 1) },
		"one twice": func(a jobs.Arrays) {
			jobs.Put(a, "m.offsets", []int64{1, 1})
			a.PutStrings("m.objects", jobs.StringsOf("a", "a"))
		},
	} {
		s := NewMistakes(3)
		s.Offer(mistake(1))
		s.Offer(mistake(2))
		a := jobs.ArraysOf(sample{s})
		spoil(a)
		var fault *protocol.Fault
		if _, err := readNamed(a); !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMistakeImages(t *testing.T) {
	digit := make([]float32, 16)
	images := MistakeImages([]Mistake{{Truth: "3", Decided: "8", Picture: digit},
		{Truth: "1", Rejected: true, Picture: digit}, {Truth: "2"}})
	if len(images) != 2 || images[0].Label != "3 → 8" || images[1].Label != "1 → none" || images[0].Width != 4 {
		t.Errorf("%+v", images)
	}
	block := &dataset.Block{Dense: dataset.Dense{Width: 16, Values: append(digit, 1)}}
	if PictureOf(block, 0) == nil ||
		PictureOf(&dataset.Block{Dense: dataset.Dense{Width: 17, Values: make([]float32, 17)}}, 0) != nil {
		t.Error("a picture is a square")
	}
}
