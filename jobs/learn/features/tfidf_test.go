package features

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/protocol"
)

func tfidfParams(idf string, sublinear bool, scale string) Params {
	p := scaleParams(scale)
	p.TFIDF = &TFIDF{IDF: idf, Sublinear: sublinear}
	return p
}

// rowsOf are rows of a block, filled up with zeros.
func rowsOf(t testing.TB, s *Space, block *dataset.Block) [][]float32 {
	t.Helper()
	v, err := s.NewReader().Read(block, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float32, v.Rows)
	for i := range rows {
		rows[i] = make([]float32, s.Width)
		index, value := v.Sparse.Row(i)
		for k, j := range index {
			rows[i][j] = value[k]
		}
	}
	return rows
}

// Texts "a b a" and "b c": idf of a and c is ln(3/2) + 1, of b 1.
func TestTFIDFByHand(t *testing.T) {
	texts := textsOf("a b a", "b c")
	s, _, _ := hashedSpace(t, tfidfParams(idfSmooth, false, ScaleNone), 1, [][]jobstest.Record{texts})
	rare := float32(math.Log(1.5) + 1)
	rows := rowsOf(t, s, &dataset.Block{IDs: make([]dataset.Identity, 2),
		Texts: [][]byte{[]byte("a a"), []byte("c b d")}})
	if terms := s.Dictionary().Terms.List(); !slices.Equal(terms, []string{"a", "b", "c"}) {
		t.Fatal(terms)
	}
	if !slices.Equal(rows[0], []float32{2 * rare, 0, 0}) || !slices.Equal(rows[1], []float32{0, 1, rare}) {
		t.Errorf("%v", rows)
	}
}

// scikit-learn's weights are ours to 1e-9, and its rows, rounded to float32, to one unit in the last place.
func TestTFIDFIsThatOfScikitLearn(t *testing.T) {
	data, err := os.ReadFile("testdata/tfidf.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Texts []string
		Cases []struct {
			IDF, Scale string
			Sublinear  bool
			Terms      []string
			Weights    []float64
			Rows       [][]float64
		}
	}
	if err := json.Unmarshal(data, &oracle); err != nil {
		t.Fatal(err)
	}
	block := &dataset.Block{IDs: make([]dataset.Identity, len(oracle.Texts))}
	for _, text := range oracle.Texts {
		block.Texts = append(block.Texts, []byte(text))
	}
	for _, c := range oracle.Cases {
		s, _, _ := hashedSpace(t, tfidfParams(c.IDF, c.Sublinear, c.Scale), 1,
			[][]jobstest.Record{textsOf(oracle.Texts...)})
		rows := rowsOf(t, s, block)
		if s.Width != len(c.Terms) {
			t.Fatalf("%d terms, not %d", s.Width, len(c.Terms))
		}
		for k, term := range c.Terms {
			j, ok := s.dictionary.Lookup([]byte(term))
			if !ok {
				t.Fatalf("%q is not in the dictionary", term)
			}
			if c.Weights != nil && math.Abs(s.rarity.idf[j]-c.Weights[k]) > 1e-9*c.Weights[k] {
				t.Errorf("%s: idf of %q is %v, not %v", c.IDF, term, s.rarity.idf[j], c.Weights[k])
			}
			for i, row := range rows {
				if want := c.Rows[i][k]; math.Abs(float64(row[j])-want) > 0x1p-24*math.Abs(want)+1e-9*math.Abs(want) {
					t.Errorf("%s, sublinear %v, scale %s: text %d, term %q: %v, not %v", c.IDF, c.Sublinear, c.Scale, i,
						term, row[j], want)
				}
			}
		}
	}
}

// Blocks and tasks do not change a bit, and counts in sparse columns weigh as words do.
func TestGroupingNeverChangesTFIDF(t *testing.T) {
	shards := rapid.Custom(drawShards).Example(7)
	hashed := tfidfParams(idfSmooth, true, ScaleL2)
	hashed.Hashing = &Hashing{Bits: 3}
	for name, c := range map[string]struct {
		params Params
		make   func([]point, int) *dataset.Block
	}{
		"sparse": {tfidfParams(idfPlain, false, ScaleL2), sparseBlock},
		"texts":  {tfidfParams(idfSmooth, false, ScaleNone), textBlock},
		"hashed": {hashed, textBlock},
	} {
		want, err := run(t, c.params, leaves(shards, 1, c.make), jobstest.Grouping{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rapid.Check(t, func(rt *rapid.T) {
			size := rapid.IntRange(1, 6).Draw(rt, "records per block")
			got, err := run(t, c.params, leaves(shards, size, c.make), jobstest.DrawGrouping(rt))
			if err != nil || jobstest.Digest(got) != jobstest.Digest(want) {
				rt.Fatalf("%s: another space (%v)", name, err)
			}
		})
	}
}

// The words of texts, counted by a dictionary, in hashed columns, or before in sparse ones, weigh the same.
func TestTFIDFOfAllForms(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 5), 1, 9), 1, 8).Draw(rt, "texts")
		p := tfidfParams(rapid.SampledFrom(idfs).Draw(rt, "idf"), rapid.Bool().Draw(rt, "sublinear"), ScaleNone)
		texts, counts := make([]string, len(letters)), make([]jobstest.Record, len(letters))
		for i, words := range letters {
			var of [6]float32
			for _, w := range words {
				texts[i] += string(rune('a'+w)) + " "
				of[w]++
			}
			counts[i] = jobstest.Record{Label: "x", Width: 6}
			for j, n := range of {
				if n > 0 {
					counts[i].Indices = append(counts[i].Indices, int32(j))
					counts[i].Values = append(counts[i].Values, n)
				}
			}
		}
		words, _, _ := hashedSpace(t, p, 1, [][]jobstest.Record{textsOf(texts...)})
		columns, _, _ := hashedSpace(t, p, 1, [][]jobstest.Record{counts})
		p.Hashing = &Hashing{Bits: 20}
		hashed, _, _ := hashedSpace(t, p, 1, [][]jobstest.Record{textsOf(texts...)})
		for j := range words.Width {
			term := words.dictionary.Terms.At(j)
			column, _ := hashed.hasher.column(hashed.hasher.hash(term))
			if w := words.rarity.idf[j]; w != columns.rarity.idf[term[0]-'a'] || w != hashed.rarity.idf[column] {
				rt.Errorf("%s: %v by words, %v by columns, %v hashed", term, w, columns.rarity.idf[term[0]-'a'],
					hashed.rarity.idf[column])
			}
		}
	})
}

func TestTFIDFRefused(t *testing.T) {
	signed := tfidfParams(idfSmooth, true, ScaleNone)
	signed.Hashing = &Hashing{Bits: 3, Signed: true}
	_, err := New(signed, protocol.JobSpec{}, "next")
	wantFault(t, "the logarithm of signed sums", err, protocol.CodeSpecInvalid, -1)
	_, err = run(t, tfidfParams(idfSmooth, false, ScaleNone), leaves(fourPoints, 1, denseBlock), jobstest.Grouping{})
	wantFault(t, "dense vectors", err, protocol.CodeSpecInvalid, -1)
	_, err = run(t, tfidfParams(idfSmooth, false, ScaleStandard), leaves(fourPoints, 1, sparseBlock),
		jobstest.Grouping{})
	wantFault(t, "scale standard", err, protocol.CodeSpecInvalid, -1)

	s, _, _ := hashedSpace(t, tfidfParams(idfSmooth, true, ScaleNone), 1,
		[][]jobstest.Record{{{Label: "x", Width: 2, Indices: []int32{0}, Values: []float32{2}}}})
	_, err = s.NewReader().Read(&dataset.Block{IDs: []dataset.Identity{dataset.ByPlace("counts", 0)},
		Sparse: dataset.Sparse{Width: 2, Indptr: []int{0, 1}, Indices: []int32{1}, Values: []float32{-1}}}, nil)
	wantFault(t, "the logarithm of -1", err, protocol.CodeBadRecord, 0)
}

func TestHostileTFIDF(t *testing.T) {
	for name, spoil := range map[string]func(jobs.Arrays){
		"short":       func(a jobs.Arrays) { jobs.Put(a, idfArray, []float64{1}) },
		"below 0":     func(a jobs.Arrays) { jobs.Put(a, idfArray, []float64{1, -1}) },
		"not finite":  func(a jobs.Arrays) { jobs.Put(a, idfArray, []float64{1, math.NaN()}) },
		"unknown way": func(a jobs.Arrays) { a.PutText(idfArray+".way", "rare") },
		"no way":      func(a jobs.Arrays) { delete(a, idfArray+".way") },
		"standard":    func(a jobs.Arrays) { a.PutText("features.scale", ScaleStandard) },
	} {
		_, _, a := hashedSpace(t, tfidfParams(idfSmooth, false, ScaleNone), 1, [][]jobstest.Record{textsOf("a b")})
		spoil(a)
		_, err := ReadSpace(a)
		wantCorrupt(t, name, err)
	}
	phase, err := New(tfidfParams(idfSmooth, false, ScaleNone), protocol.JobSpec{}, "next")
	if err != nil {
		t.Fatal(err)
	}
	partial := func() jobs.Arrays {
		records := []jobstest.Record{{Width: 9, Indices: []int32{2, 4}, Values: []float32{1, 1}}}
		leaf := jobs.Leaf{Blocks: jobstest.Shards([][]jobstest.Record{records}, 1)[0]}
		a, _, err := phase.Map(t.Context(), nil, leaf, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, spoil := range map[string]func(jobs.Arrays){
		"not in order":    func(a jobs.Arrays) { jobs.Put(a, "documents.column", []int32{4, 2}) },
		"below 0":         func(a jobs.Arrays) { jobs.Put(a, "documents.column", []int32{-1, 2}) },
		"beyond width":    func(a jobs.Arrays) { jobs.Put(a, "documents.column", []int32{2, 9}) },
		"of no record":    func(a jobs.Arrays) { jobs.Put(a, "documents.records", []int64{1, 0}) },
		"of more records": func(a jobs.Arrays) { jobs.Put(a, "documents.records", []int64{1, 2}) },
		"one is missing":  func(a jobs.Arrays) { jobs.Put(a, "documents.records", []int64{1}) },
	} {
		bad := partial()
		spoil(bad)
		_, err := phase.Merge(partial(), bad)
		wantCorrupt(t, name, err)
	}
}
