package vocabulary

import (
	"errors"
	"slices"
	"testing"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
)

func dictionaryOf(t testing.TB, terms ...string) *Dictionary {
	t.Helper()
	d, err := jobs.Read(jobs.ArraysOf(&Dictionary{Terms: jobs.StringsOf(terms...)}), &Dictionary{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBagByHand(t *testing.T) {
	tokenizer, err := DefaultParams().Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	bagger := NewBagger(tokenizer, dictionaryOf(t, "the", "dog", "fox", "a"))
	for _, c := range []struct {
		text   string
		terms  []int32
		counts []int64
	}{
		{"A fox, the dog: THE end of the tale", []int32{0, 1, 2, 3}, []int64{3, 1, 1, 1}},
		{"nothing of it", nil, nil},
		{"dog dog", []int32{1}, []int64{2}},
	} {
		if bag := bagger.Bag([]byte(c.text)); !slices.Equal(bag.Terms, c.terms) || !slices.Equal(bag.Counts, c.counts) {
			t.Errorf("%q: %+v", c.text, bag)
		}
	}
}

func TestReadDictionaryRefusesATermTwice(t *testing.T) {
	state := jobs.Arrays{}
	state.PutStrings(dictionary, jobs.StringsOf("a", "b", "a"))
	_, err := jobs.Read(state, &Dictionary{})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
		t.Error(err)
	}
}

func TestBagDoesNotAllocate(t *testing.T) {
	tokenizer, err := DefaultParams().Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	bagger := NewBagger(tokenizer, dictionaryOf(t, "the", "dog"))
	text := []byte("the dog and the other dog")
	bagger.Bag(text)
	if n := testing.AllocsPerRun(100, func() { bagger.Bag(text) }); n != 0 {
		t.Errorf("%v allocations a document", n)
	}
}
