package features

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

// lines are those of a file of testdata that are no comments.
func lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return slices.DeleteFunc(all, func(line string) bool { return strings.HasPrefix(line, "#") })
}

func TestSipHashVectors(t *testing.T) {
	var in []byte
	key := [2]uint64{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	vectors := lines(t, "siphash-2-4.txt")
	for i, line := range vectors {
		want, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := siphash(key, in); got != binary.LittleEndian.Uint64(want) {
			t.Errorf("%d bytes: %016x", i, got)
		}
		in = append(in, byte(i))
	}
	if len(vectors) != 64 {
		t.Errorf("%d vectors", len(vectors))
	}
}

// Under a key of zeros the hash of "Hello world" is c9e8a3021f3822d9 and that of "12345678123" 0f95d77ccdb0649f, says
// another implementation (dchest/siphash): columns 9 and 15 of 16, signs -1 and 1.
func TestHashingByHand(t *testing.T) {
	for _, c := range []struct {
		signed  bool
		ngrams  int
		text    string
		indices []int32
		values  []float32
	}{
		{true, 1, "12345678123 12345678123", []int32{15}, []float32{2}},
		{true, 2, "Hello world", []int32{9}, []float32{-1}},
		{false, 2, "Hello world", []int32{9}, []float32{1}},
		{true, 2, "Hello", nil, nil},
	} {
		tokenizer, err := text.New(text.Params{NgramMin: c.ngrams, NgramMax: c.ngrams})
		if err != nil {
			t.Fatal(err)
		}
		b := hashBagger{tokenizer: tokenizer, hasher: &hasher{Hashing: Hashing{Bits: 4, Signed: c.signed}}}
		if indices, values := b.bag([]byte(c.text), nil, nil); !slices.Equal(indices, c.indices) ||
			!slices.Equal(values, c.values) {
			t.Errorf("%q: %v, %v", c.text, indices, values)
		}
	}
}

// hashedParams are for few columns, so that terms share them.
func hashedParams(bits int, signed bool) Params {
	p := DefaultParams()
	p.Hashing = &Hashing{Bits: bits, Signed: signed}
	return p
}

// hashedSpace trains on texts, and returns the metrics too.
func hashedSpace(t testing.TB, p Params, seed uint64, shards [][]jobstest.Record) (*Space, map[string]string,
	jobs.Arrays) {
	t.Helper()
	spec := protocol.JobSpec{Kind: "Test"}
	spec.Spec.Repro.Seed = seed
	phase, err := New(p, spec, "next")
	if err != nil {
		t.Fatal(err)
	}
	result, err := jobstest.Run(t.Context(), only{phase}, spec, jobstest.Shards(shards, 2), kernelops.Generic(),
		jobstest.Grouping{})
	if err != nil {
		t.Fatal(err)
	}
	space, err := ReadSpace(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string]string{}
	for _, m := range result.Metrics {
		metrics[m.Name] = string(m.Value)
	}
	return space, metrics, result.Model
}

func textsOf(texts ...string) []jobstest.Record {
	records := make([]jobstest.Record, len(texts))
	for i, text := range texts {
		records[i] = jobstest.Record{Text: text, Label: "x"}
	}
	return records
}

// A row is, dense, the sum of the signs of its words; computed once more from the definition, word by word.
func TestHashingIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching("[a-e]{1,2}"), 1, 12).Draw(rt, "words")
		bits, signed, seed := rapid.IntRange(1, 5).Draw(rt, "bits"), rapid.Bool().Draw(rt, "signed"),
			rapid.Uint64().Draw(rt, "seed")
		space, metrics, _ := hashedSpace(t, hashedParams(bits, signed), seed,
			[][]jobstest.Record{textsOf(strings.Join(words, " "))})
		k0, k1 := philox.New(seed, "features/hashing").Block(0, 0)
		want, sharers := make([]float32, 1<<bits), make([]map[string]bool, 1<<bits)
		for _, word := range words {
			hash := siphash([2]uint64{k0, k1}, []byte(word))
			column := hash % (1 << bits)
			if want[column]++; signed && hash >= 1<<63 {
				want[column] -= 2
			}
			if sharers[column] == nil {
				sharers[column] = map[string]bool{}
			}
			sharers[column][word] = true
		}
		block := &dataset.Block{IDs: make([]dataset.Identity, 1), Texts: [][]byte{[]byte(strings.Join(words, " "))}}
		v, err := space.NewReader().Read(block, nil)
		if err != nil {
			rt.Fatal(err)
		}
		got := make([]float32, 1<<bits)
		for p, j := range v.Sparse.Indices {
			if got[j] = v.Sparse.Values[p]; got[j] == 0 || p > 0 && v.Sparse.Indices[p-1] >= j {
				rt.Fatalf("entry %d: %v, %v", p, v.Sparse.Indices, v.Sparse.Values)
			}
		}
		if !slices.Equal(got, want) || space.Width != 1<<bits {
			rt.Fatalf("%v, not %v", got, want)
		}
		distinct, used, shared := 0, 0, 0
		for _, s := range sharers {
			distinct += len(s)
			used += min(len(s), 1)
			if len(s) > 1 {
				shared += len(s)
			}
		}
		if metrics["features.hashed_terms"] != strconv.Itoa(distinct) ||
			metrics["features.hashed_columns"] != strconv.Itoa(used) ||
			metrics["features.hash_collisions"] != strconv.Itoa(shared) {
			rt.Fatalf("%v; %d terms in %d columns, %d share", metrics, distinct, used, shared)
		}
	})
}

// Neither shards nor tasks change the space or what is counted; another seed hashes otherwise.
func TestHashingAcrossShards(t *testing.T) {
	records := textsOf("a b c a", "", "d e f", "a g h i", "b b b", "j", "k l m n o")
	p := hashedParams(3, true)
	_, wantMetrics, want := hashedSpace(t, p, 7, jobstest.Deal(records, 1))
	for n := 2; n < 9; n++ {
		_, metrics, got := hashedSpace(t, p, 7, jobstest.Deal(records, n))
		if jobstest.Digest(got) != jobstest.Digest(want) ||
			metrics["features.hash_collisions"] != wantMetrics["features.hash_collisions"] {
			t.Errorf("%d shards: %v, not %v", n, metrics, wantMetrics)
		}
	}
	if _, _, other := hashedSpace(t, p, 8, jobstest.Deal(records, 1)); jobstest.Digest(other) == jobstest.Digest(want) {
		t.Error("seeds 7 and 8 hash alike")
	}
	spec := protocol.JobSpec{Kind: "Test"}
	phase, err := New(p, spec, "next")
	if err != nil {
		t.Fatal(err)
	}
	jobstest.CheckGrouping(t, only{phase}, spec, jobstest.Deal(records, 4), kernelops.Generic())
}

// The inner products of scikit-learn's rows are those of ours: signs, n-grams and the norm are the same, whatever the
// hash.
func TestHashingAgainstScikitLearn(t *testing.T) {
	var texts []string
	want := map[string][][]float64{}
	for _, line := range lines(t, "sklearn-hashing.tsv") {
		fields := strings.Split(line, "\t")
		if fields[0] == "text" {
			texts = append(texts, fields[1])
			continue
		}
		row := make([]float64, len(fields)-1)
		for i, field := range fields[1:] {
			var err error
			if row[i], err = strconv.ParseFloat(field, 64); err != nil {
				t.Fatal(err)
			}
		}
		want[fields[0]] = append(want[fields[0]], row)
	}
	for scale, products := range want {
		p := hashedParams(20, true)
		p.Scale, p.Text.NgramMax = scale, 2
		space, metrics, _ := hashedSpace(t, p, 0, jobstest.Deal(textsOf(texts...), 2))
		if metrics["features.hash_collisions"] != "0" {
			t.Fatalf("the seed is unlucky: %v", metrics)
		}
		block := &dataset.Block{IDs: make([]dataset.Identity, len(texts))}
		for _, text := range texts {
			block.Texts = append(block.Texts, []byte(text))
		}
		v, err := space.NewReader().Read(block, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			for j := range texts {
				if got := product(v.Sparse, i, j); math.Abs(got-products[i][j]) > 1e-6 {
					t.Errorf("scale %s, texts %d and %d: %v, not %v", scale, i, j, got, products[i][j])
				}
			}
		}
	}
	if len(want) != 2 || len(texts) != 5 {
		t.Errorf("%d scales of %d texts", len(want), len(texts))
	}
}

func product(s dataset.Sparse, i, j int) (sum float64) {
	left := map[int32]float64{}
	index, value := s.Row(i)
	for p, column := range index {
		left[column] = float64(value[p])
	}
	index, value = s.Row(j)
	for p, column := range index {
		sum += float64(left[column] * float64(value[p]))
	}
	return sum
}

func TestHashingRefuses(t *testing.T) {
	fewer := hashedParams(4, true)
	fewer.Text = &vocabulary.Params{NgramMin: 1, NgramMax: 1, MinDF: 2}
	for name, p := range map[string]Params{"no bits": hashedParams(0, true), "25 bits": hashedParams(25, true),
		"bits below 0": hashedParams(-1, false), "min_df": fewer} {
		_, err := New(p, protocol.JobSpec{}, "next")
		wantFault(t, name, err, protocol.CodeSpecInvalid, -1)
	}
	_, err := run(t, hashedParams(4, true), leaves(fourPoints, 2, denseBlock), jobstest.Grouping{})
	wantFault(t, "dense vectors", err, protocol.CodeSpecInvalid, -1)
	_, err = run(t, hashedParams(4, true), jobstest.Shards(jobstest.Deal(textsOf("", " -- "), 2), 1),
		jobstest.Grouping{})
	wantFault(t, "no term", err, protocol.CodeInputEmpty, -1)
}
