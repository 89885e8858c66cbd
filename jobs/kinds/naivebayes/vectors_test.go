package naivebayes

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

const vectorWidth = 130

// twins draws documents, and vectors of how often each word occurs: the word of column j is "j".
func twins(t *rapid.T) (texts, vectors []jobstest.Record) {
	for i := range rapid.IntRange(6, 30).Draw(t, "documents") {
		label := []string{"x", "y", "z"}[i%3]
		found := rapid.SliceOfN(rapid.Int32Range(0, vectorWidth-1), 1, 20).Draw(t, "words")
		slices.Sort(found)
		vector := jobstest.Record{Label: label, Width: vectorWidth}
		var words []string
		for w, j := range found {
			if w == 0 || j != found[w-1] {
				vector.Indices, vector.Values = append(vector.Indices, j), append(vector.Values, 0)
			}
			vector.Values[len(vector.Values)-1]++
			words = append(words, strconv.Itoa(int(j)))
		}
		texts = append(texts, jobstest.Record{Label: label, Text: strings.Join(words, " ")})
		vectors = append(vectors, vector)
	}
	return texts, vectors
}

// The counts of words, read as vectors, are the words: the same model, the same posteriors.
func TestVectorsAreTextsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts, vectors := twins(t)
		model := twinModel(t, texts, 1)
		if got := twinModel(t, vectors, 3); string(got.Encode()) != string(model.Encode()) {
			t.Fatal("the model of the vectors is another")
		}
		ofTexts, ofVectors := twinScores(t, model, texts), twinScores(t, model, vectors)
		if !slices.Equal(ofTexts, ofVectors) {
			t.Fatalf("posteriors %v of the texts, %v of the vectors", ofTexts, ofVectors)
		}
	})
}

func twinModel(t *rapid.T, records []jobstest.Record, shards int) jobs.Arrays {
	spec := specOf(`{"text": {"min_df": 2}}`, 0)
	algorithm, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := jobstest.Run(t.Context(), algorithm, spec, jobstest.Shards(jobstest.Deal(records, shards), 4),
		kernelops.Best(), jobstest.Grouping{})
	if err != nil {
		t.Skip(err) // no word in two documents
	}
	return got.Model
}

func twinScores(t *rapid.T, model jobs.Arrays, records []jobstest.Record) (scores []float64) {
	p, err := NewPredictor(model, kernelops.Best())
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range jobstest.Shards([][]jobstest.Record{records}, 100)[0](t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := p.Predict(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			scores = append(scores, o.Scores...)
		}
	}
	return scores
}

func TestVectorsThatAreNoCounts(t *testing.T) {
	good := jobstest.Record{Label: "x", Width: 9, Indices: []int32{0, 4}, Values: []float32{1, 2}}
	with := func(v float32) []jobstest.Record {
		bad := jobstest.Record{Label: "y", Width: 9, Indices: []int32{1, 4}, Values: []float32{0, v}}
		return []jobstest.Record{good, bad}
	}
	wide := jobstest.Record{Label: "y", Width: 1<<20 + 1, Indices: []int32{1 << 20}, Values: []float32{1}}
	for name, c := range map[string]struct {
		records []jobstest.Record
		code    protocol.Code
	}{
		"fraction": {with(0.5), protocol.CodeBadRecord},
		"negative": {with(-1), protocol.CodeBadRecord},
		"too many": {with(1 << 25), protocol.CodeBadRecord},
		"wide":     {[]jobstest.Record{wide}, protocol.CodeInputLimit},
		"dense":    {jobstest.DenseRecords([][]float32{{1}}, "x"), protocol.CodeBadRecord},
	} {
		_, err := train(t, specOf(`{}`, 0), [][]jobstest.Record{c.records})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != c.code || fault.Object != "records" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := train(t, specOf(`{}`, 0), [][]jobstest.Record{with(1 << 24)}); err != nil {
		t.Error(err)
	}
}

// A model of words says nothing about columns.
func TestModelOfWordsRefusesVectors(t *testing.T) {
	for _, word := range []string{"rain", "007", "-1", "1048576"} {
		p, err := NewPredictor(modelOf(t, `{}`,
			[]jobstest.Record{{Label: "x", Text: "a " + word}, {Label: "y", Text: word}}), kernelops.Best())
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Predict(t.Context(), &dataset.Block{IDs: make([]dataset.Identity, 1),
			Sparse: dataset.Sparse{Width: 3, Indptr: []int{0, 0}}})
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// Both ways to keep cells give the same ones, by term or by the column of each term.
func TestTallyOfManyCells(t *testing.T) {
	for _, places := range [][]int32{nil, {5, 0, 6, 2}} {
		small, big := newTally(7, 3), newTally(denseCells, 3)
		if small.dense == nil || big.dense != nil {
			t.Fatal("the bound of denseCells is not kept")
		}
		for _, place := range []int32{6, 2, 6, 0} {
			small.add(2, place, 2)
			big.add(2, place, 2)
		}
		at, count := []int64{2, 8, 20}, []int64{2, 2, 4}
		if places != nil {
			at, count = []int64{5, 8, 11}, []int64{2, 4, 2}
		}
		for _, got := range []cells{small.cells(places), big.cells(places)} {
			if !slices.Equal(got.at, at) || !slices.Equal(got.count, count) {
				t.Errorf("%v, want %v %v", got, at, count)
			}
		}
	}
}

// Counts beyond 32 bits are kept.
func TestTallyBeyond32Bits(t *testing.T) {
	tally := newTally(1, 2)
	const most = 1 << 24
	for range 600 {
		tally.add(1, 0, most)
	}
	if got := tally.cells(nil); !slices.Equal(got.at, []int64{1}) || !slices.Equal(got.count, []int64{600 * most}) {
		t.Errorf("%v", got)
	}
}

// TestTallyIsAMap holds random counts of vectors, some above what waits and sums above what a cell of the array
// holds, to those of a plain map.
func TestTallyIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, classes := range []int{1, 3, 300, waitingClasses + 1} {
		const places = 50
		tally, want := newColumnTally(places, classes), map[int64]int64{}
		if (tally.waiting != nil) != (classes <= waitingClasses) {
			t.Fatalf("%d classes: the bound of waitingClasses is not kept", classes)
		}
		for range 30000 {
			class, index, values := r.Int64N(int64(min(classes, 4))), make([]int32, r.IntN(12)), make([]float32, 12)
			for p := range index {
				index[p] = r.Int32N(places + 3)
				n := r.Int64N([]int64{3, 3, 3, 256, tooMany + 2, 1 << 24}[r.IntN(6)])
				values[p] = float32(n)
				if n > 0 && index[p] < places {
					want[int64(index[p])*int64(classes)+class] += n
				}
			}
			if !tally.addVector(class, index, values[:len(index)]) {
				t.Fatal("counts are refused")
			}
		}
		got, sorted := tally.cells(nil), sortedCells(want)
		if !slices.Equal(got.at, sorted.at) || !slices.Equal(got.count, sorted.count) {
			t.Errorf("%d classes: other counts", classes)
		}
	}
}

// A vector longer than what may wait, counts that are 0, places beyond the last.
func TestTallyOfVectors(t *testing.T) {
	for _, classes := range []int{2, waitingCounts} {
		tally := newColumnTally(20, classes)
		for range 3 {
			if !tally.addVector(1, []int32{0, 3, 19, 20, 99}, []float32{1, 0, 1 << 24, 7, 1}) {
				t.Fatal("counts are refused")
			}
		}
		want := cells{[]int64{1, int64(19*classes + 1)}, []int64{3, 3 << 24}}
		if got := tally.cells(nil); !slices.Equal(got.at, want.at) || !slices.Equal(got.count, want.count) {
			t.Errorf("%v, want %v", got, want)
		}
		if tally.addVector(0, []int32{1}, []float32{0.5}) {
			t.Error("half a word was counted")
		}
	}
}
