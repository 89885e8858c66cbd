package vocabulary

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"pgregory.net/rapid"
)

// room counts what is kept.
type room struct{ size, used int64 }

func (r *room) Reserve(bytes int64) bool {
	if r.used+bytes > r.size {
		return false
	}
	r.used += bytes
	return true
}

func (r *room) Release(bytes int64) { r.used -= bytes }

// leafOf is a leaf of texts in blocks of size, with memos in a room.
func leafOf(texts []string, size int, r *room) (leaf jobs.Leaf, blocks []*dataset.Block) {
	for part := range slices.Chunk(texts, size) {
		b := &dataset.Block{Memo: dataset.NewMemo(r)}
		for i, text := range part {
			b.IDs, b.Labels = append(b.IDs, dataset.ByRow(int64(i))), append(b.Labels, []byte("label"))
			b.Texts = append(b.Texts, []byte(text))
		}
		blocks = append(blocks, b)
	}
	leaf.Blocks = func(context.Context) iter.Seq2[*dataset.Block, error] {
		return func(yield func(*dataset.Block, error) bool) {
			for _, b := range blocks {
				if !yield(b, nil) {
					return
				}
			}
		}
	}
	return leaf, blocks
}

func builderOf(t rapid.TB, p Params, train jobs.Choice) *Builder {
	t.Helper()
	b, err := New(p, func() jobs.Choice { return train })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNumbersAreKeptByHand(t *testing.T) {
	r := &room{size: 1 << 20}
	leaf, blocks := leafOf([]string{"a b a", "held out", "b c", ""}, 4, r)
	b := builderOf(t, DefaultParams(), func(_ *dataset.Block, i int) bool { return i != 1 })
	if _, err := b.Count(t.Context(), leaf); err != nil {
		t.Fatal(err)
	}
	k, first := keptOf(blocks[0], b.tokenizer)
	if k == nil || first != 0 {
		t.Fatalf("kept %v from record %d", k, first)
	}
	for i, want := range [][]int32{{0, 1, 0}, nil, {1, 2}, {}} {
		if got, ok := k.record(i); ok != (i != 1) || !slices.Equal(got, want) {
			t.Errorf("record %d has the numbers %d, %v, want %d", i, got, ok, want)
		}
	}
	if used := 4*(5+4) + keptHeader + k.terms.Bytes(); r.used != used {
		t.Errorf("%d bytes are reserved, want %d", r.used, used)
	}
	// What is kept is used: it is read in place of the text, whose bytes are other ones by now.
	bagger := NewBagger(b.tokenizer, dictionaryOf(t, "c", "a"))
	blocks[0].Texts[0] = []byte("c c c")
	if got := bagger.FoundIn(blocks[0], 0); !slices.Equal(got, []int32{1, 1}) {
		t.Errorf("found %d", got)
	}
	if got := bagger.FoundIn(blocks[0].Slice(2, 3), 0); !slices.Equal(got, []int32{0}) {
		t.Errorf("found %d in a part", got)
	}
	upper := DefaultParams()
	upper.Lowercase = false
	if got := NewBagger(builderOf(t, upper, nil).tokenizer, bagger.dictionary).FoundIn(blocks[0], 0); len(got) != 3 {
		t.Errorf("another tokenizer finds %d", got)
	}
}

// With room for all, some or none of the numbers, every bag is that of the text, and what is not kept is given back.
func TestKeptNumbersEqualTheTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"a", "b", "The", "the", "é", "longer-than-fifteen-bytes", "ΣΑΣ", "x y z", "",
			"abcdefghijklmnopqrst"})
		text := rapid.Map(rapid.SliceOfN(words, 0, 9), func(w []string) string { return strings.Join(w, " ") })
		p := DefaultParams()
		p.NgramMin = rapid.IntRange(1, 2).Draw(t, "min")
		p.NgramMax = rapid.IntRange(p.NgramMin, 3).Draw(t, "max")
		if rapid.Bool().Draw(t, "stop") {
			p.StopWords = []string{"the"}
		}
		if rapid.IntRange(0, 3).Draw(t, "characters") == 0 {
			p.Analyzer, p.StopWords = "char", nil
		}
		third := rapid.IntRange(0, 4).Draw(t, "held out")
		b := builderOf(t, p, func(_ *dataset.Block, i int) bool { return i%5 != third })
		r := &room{size: rapid.Int64Range(0, 20000).Draw(t, "room")}
		var blocks []*dataset.Block
		total := &Counts{Terms: Table{Columns: make([][]int64, 2)}, Labels: Table{Columns: make([][]int64, 1)}}
		for range rapid.IntRange(1, 3).Draw(t, "leaves") {
			leaf, of := leafOf(rapid.SliceOfN(text, 0, 30).Draw(t, "texts"), rapid.IntRange(1, 8).Draw(t, "size"), r)
			counts, err := b.Count(t.Context(), leaf)
			if err != nil {
				t.Fatal(err)
			}
			if total, err = total.Plus(counts); err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, of...)
		}
		kept := pick(total.Terms, func(i int) bool { return i%3 != 0 })
		d, err := NewDictionary(kept)
		if err != nil {
			t.Fatal(err)
		}
		wantSameBags(t, b, d, blocks)
		wantAllReserved(t, r, blocks)
	})
}

func pick(t Table, keep func(i int) bool) (list jobs.Strings) {
	for i := range t.Keys.Len() {
		if keep(i) {
			list.Append(t.Keys.At(i))
		}
	}
	return list
}

// wantSameBags compares what is found in blocks with what strings and a map find in their texts.
func wantSameBags(t rapid.TB, b *Builder, d *Dictionary, blocks []*dataset.Block) {
	t.Helper()
	number := map[string]int32{}
	for i, term := range d.Terms.List() {
		number[term] = int32(i)
	}
	bagger, plain := NewBagger(b.tokenizer, d), NewBagger(b.tokenizer, d)
	for _, block := range blocks {
		for i, text := range block.Texts {
			want := []int32{}
			b.tokenizer.Tokens(nil, text, func(term []byte) {
				if n, ok := number[string(term)]; ok {
					want = append(want, n)
				}
			})
			if got := bagger.FoundIn(block, i); !slices.Equal(got, want) {
				t.Fatalf("record %d, %q: found %d, want %d", i, text, got, want)
			}
			if got := plain.Found(text); !slices.Equal(got, want) {
				t.Fatalf("%q: found %d, want %d", text, got, want)
			}
		}
	}
}

// wantAllReserved checks that what is reserved is what is kept.
func wantAllReserved(t rapid.TB, r *room, blocks []*dataset.Block) {
	t.Helper()
	used, seen := int64(0), map[any]bool{}
	for _, block := range blocks {
		value, _ := block.Memo.Value()
		k, ok := value.(*numbered)
		if !ok {
			continue
		}
		used += 4*int64(len(k.numbers)+len(k.ends)) + keptHeader
		if !seen[k.terms] {
			used += k.terms.Bytes()
		}
		seen[k.terms] = true
	}
	if r.used != used {
		t.Fatalf("%d bytes are reserved, %d kept", r.used, used)
	}
}

// A pass that fails keeps nothing and holds no memory.
func TestAFailedPassKeepsNothing(t *testing.T) {
	r := &room{size: 1 << 20}
	leaf, blocks := leafOf([]string{"a", "b", "c"}, 1, r)
	blocks[2].Labels = nil
	if _, err := builderOf(t, DefaultParams(), everyRecord()).Count(t.Context(), leaf); err == nil {
		t.Fatal("a record without a label was counted")
	}
	for i, block := range blocks {
		if value, _ := block.Memo.Value(); value != nil || r.used != 0 {
			t.Errorf("block %d has %v, and %d bytes are reserved", i, value, r.used)
		}
	}
}

func BenchmarkCountAndFind(b *testing.B) {
	var texts []string
	for i := range 1 << 14 {
		texts = append(texts, fmt.Sprintf("a text of %d words, number %d: with a word %d that is rare", i%7, i%100, i))
	}
	leaf, blocks := leafOf(texts, 4096, &room{size: 1 << 30})
	builder, err := New(DefaultParams(), func() jobs.Choice { return everyRecord() })
	if err != nil {
		b.Fatal(err)
	}
	counts, err := builder.Count(b.Context(), leaf)
	if err != nil {
		b.Fatal(err)
	}
	d, err := NewDictionary(counts.Terms.Keys)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			leaf, _ := leafOf(texts, 4096, &room{size: 1 << 30})
			if _, err := builder.Count(b.Context(), leaf); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, kept := range []bool{true, false} {
		b.Run(fmt.Sprint("find/kept=", kept), func(b *testing.B) {
			bagger := NewBagger(builder.tokenizer, d)
			for b.Loop() {
				for _, block := range blocks {
					for i := range block.Texts {
						if kept {
							bagger.FoundIn(block, i)
						} else {
							bagger.Found(block.Texts[i])
						}
					}
				}
			}
		})
	}
}
