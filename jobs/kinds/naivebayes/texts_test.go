package naivebayes

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// oneMemo is a jobs.Memo that keeps one value.
type oneMemo struct {
	value any
	bytes int64
}

func (m *oneMemo) Take() any {
	value := m.value
	m.value = nil
	return value
}

func (m *oneMemo) Keep(value any, bytes int64) { m.value, m.bytes = value, bytes }

// rememberingLeaf is a leaf of all the records, whose phases share a memo.
func rememberingLeaf(records []jobstest.Record, memo *oneMemo) jobs.Leaf {
	leaf := jobstest.Leaf(0, 0, jobstest.Shards([][]jobstest.Record{records}, 3))
	leaf.MemoOf = func(string) jobs.Memo { return memo }
	return leaf
}

// leafOfTexts maps the vocabulary of a leaf and returns the memo and the state that follows.
func leafOfTexts(t testing.TB, spec protocol.JobSpec, records []jobstest.Record) (*oneMemo, []jobs.Phase, jobs.Arrays) {
	t.Helper()
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	memo, phases := &oneMemo{}, algorithm.Phases()
	leaf := rememberingLeaf(records, memo)
	partial, _, err := phases[0].Map(t.Context(), jobs.Arrays{}, leaf, nil, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	next, err := phases[0].Step(t.Context(), jobs.Arrays{}, jobs.RoundOf(jobs.Plan{}, partial))
	if err != nil {
		t.Fatal(err)
	}
	return memo, phases, next.State
}

// Of the four documents, "buy" is in one of spam, three times, and "now" in it once and in two of ham.
func TestRememberedTextsByHand(t *testing.T) {
	for form, count := range map[string][]int64{
		formMultinomial: {3, 1, 1, 2, 1, 1, 1}, formBernoulli: {1, 1, 1, 2, 1, 1, 1},
	} {
		memo, _, _ := leafOfTexts(t, specOf(`{"form": "`+form+`"}`, 0), fourDocuments)
		got, ok := memo.value.(*texts)
		if !ok || got.records != 4 || memo.bytes != got.bytes() {
			t.Fatalf("%s: remembered %+v, %d bytes", form, memo.value, memo.bytes)
		}
		if !slices.Equal(got.labels.List(), []string{"ham", "spam"}) || !slices.Equal(got.documents, []int64{3, 1}) ||
			!slices.Equal(got.terms.List(), []string{"buy", "cheap", "meet", "now", "see", "you"}) {
			t.Errorf("%s: labels %q of %d, terms %q", form, got.labels.List(), got.documents, got.terms.List())
		}
		if !slices.Equal(got.ends, []int64{1, 2, 3, 5, 6, 7}) ||
			!slices.Equal(got.class, []int32{1, 1, 0, 0, 1, 0, 0}) ||
			!slices.Equal(got.count, []int64{count[0], 1, 1, 2, 1, 1, 1}) {
			t.Errorf("%s: ends %d, classes %d, counts %d", form, got.ends, got.class, got.count)
		}
	}
}

// What is remembered is used: the counts are those of the texts then, though the records are others by now.
func TestRememberedTextsAreNotReadAgain(t *testing.T) {
	spec := specOf(`{}`, 0)
	memo, phases, state := leafOfTexts(t, spec, fourDocuments)
	for i, want := range []int64{10, 1} { // tokens of the four documents, then of the other record
		leaf := rememberingLeaf([]jobstest.Record{{Label: "spam", Text: "buy"}}, memo)
		partial, _, err := phases[1].Map(t.Context(), state, leaf, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		counts, err := jobs.Read(partial, new(partialCounts))
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for _, n := range counts.cells.count {
			total += n
		}
		if total != want {
			t.Errorf("pass %d counts %d tokens, want %d", i, total, want)
		}
	}
}

// The second method is reading the texts: the partials have the same bytes, also after texts were written and read.
func TestRememberedTextsCountAsReadOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SampledFrom([]int{2, 3, 40}).Draw(t, "labels")
		record := rapid.Custom(func(t *rapid.T) jobstest.Record {
			words := rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,2}|abcdefghijklmnopq[r-t]|é`), 0, 9).Draw(t, "words")
			return jobstest.Record{Label: fmt.Sprint(rapid.IntRange(0, labels-1).Draw(t, "label")),
				Text: strings.Join(words, " ")}
		})
		records := append(rapid.SliceOfN(record, 0, 40).Draw(t, "records"),
			jobstest.Record{Label: "0", Text: "a"}, jobstest.Record{Label: "1", Text: "a"})
		spec := specOf(fmt.Sprintf(`{"form": %q, "text": {"ngram_min": %d, "ngram_max": 3, "analyzer": %q, "min_df": %d}}`,
			rapid.SampledFrom(forms()).Draw(t, "form"), rapid.IntRange(1, 2).Draw(t, "min"),
			rapid.SampledFrom([]string{"word", "char", "char_wb"}).Draw(t, "analyzer"), rapid.IntRange(1, 2).Draw(t, "df")), 0)
		algorithm, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		phases, memo := algorithm.Phases(), &oneMemo{}
		leaf := rememberingLeaf(records, memo)
		partial, _, err := phases[0].Map(t.Context(), jobs.Arrays{}, leaf, nil, kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		next, err := phases[0].Step(t.Context(), jobs.Arrays{}, jobs.RoundOf(jobs.Plan{}, partial))
		var fault *protocol.Fault
		if errors.As(err, &fault) && fault.Code == protocol.CodeInputEmpty {
			t.Skip("no term is left") // of bigrams
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "written") {
			data := jobs.ArraysOf(memo.value.(*texts)).Encode()
			arrays, err := jobs.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if memo.value, err = jobs.Load[texts](arrays); err != nil {
				t.Fatal(err)
			}
		}
		var partials [2][]byte
		for i := range partials { // the first one takes what is remembered
			partial, _, err := phases[1].Map(t.Context(), next.State, leaf, nil, kernelops.Best())
			if err != nil {
				t.Fatal(err)
			}
			partials[i] = partial.Encode()
		}
		if !bytes.Equal(partials[0], partials[1]) {
			t.Fatal("remembered texts have other counts than read ones")
		}
	})
}

// Cells in the array, beyond what one holds, beyond the array, and moved by labels that come late, against a map.
func TestSeenTextsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen, want := newSeenTexts(false), map[[2]int32]int64{}
		highest := rapid.SampledFrom([]int32{0, 5, 5000, denseCells}).Draw(t, "terms")
		labels := rapid.SampledFrom([]int32{0, 3, 70, 3000}).Draw(t, "labels")
		for range rapid.IntRange(1, 12).Draw(t, "documents") {
			label := rapid.Int32Range(0, labels).Draw(t, "label")
			terms := rapid.SliceOfN(rapid.Int32Range(0, highest), 0, 9).Draw(t, "document")
			if rapid.IntRange(0, 5).Draw(t, "many") == 0 {
				terms = slices.Repeat(terms, cellLimit/2)
			}
			seen.add(label, terms)
			for _, term := range terms {
				want[[2]int32{term, label}]++
			}
		}
		seen.add(labels, nil) // a label of documents without terms
		order := &vocabulary.Order{Labels: rapid.Permutation(ascending(labels+1)).Draw(t, "order"),
			Terms: termsOf(want)}
		counts := &vocabulary.Counts{Labels: vocabulary.Table{Columns: make([][]int64, 1)}}
		got, cell := seen.texts(0, counts, order), int64(0)
		for i, term := range order.Terms {
			for y, label := range order.Labels {
				n := want[[2]int32{term, label}]
				if n == 0 {
					continue
				}
				if got.class[cell] != int32(y) || got.count[cell] != n {
					t.Fatalf("cell %d of term %d: %d of label %d, want %d of %d", cell, term, got.count[cell],
						got.class[cell], n, y)
				}
				cell++
			}
			if got.ends[i] != cell {
				t.Fatalf("the cells of term %d end at %d, want %d", term, got.ends[i], cell)
			}
		}
		if len(got.class) != int(cell) {
			t.Fatalf("%d cells, want %d", len(got.class), cell)
		}
		seen.close()
	})
}

func ascending(n int32) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

func termsOf(cells map[[2]int32]int64) []int32 {
	terms := map[int32]bool{}
	for cell := range cells {
		terms[cell[0]] = true
	}
	return slices.Sorted(maps.Keys(terms))
}

// A label that the state does not have is an error of the pass that reads, so nothing is made of what is remembered.
func TestRememberedTextsOfAnotherStateAreNotUsed(t *testing.T) {
	memo, phases, _ := leafOfTexts(t, specOf(`{}`, 0), fourDocuments)
	_, _, other := leafOfTexts(t, specOf(`{}`, 0), []jobstest.Record{{Label: "a", Text: "x"}, {Label: "b", Text: "x"}})
	leaf := rememberingLeaf(fourDocuments, memo)
	if _, _, err := phases[1].Map(t.Context(), other, leaf, nil, kernelops.Best()); err == nil {
		t.Error("counted for labels that the first phase did not see")
	}
}
