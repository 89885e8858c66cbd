package naivebayes

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

// texts are the texts of a leaf as the phase of the vocabulary leaves them for the one that counts, which then need not
// read them: how often each term occurs in each class, or in how many of its documents.
type texts struct {
	records   int64 // test records included
	labels    jobs.Strings
	documents []int64 // of each label
	terms     jobs.Strings
	ends      []int64 // of the cells of each term
	class     []int32 // of each cell, a label
	count     []int64
}

// Fields lists the texts, for a worker's scratch directory.
func (t *texts) Fields(f *jobs.Fields) {
	jobs.Scalar(f, "records", &t.records)
	f.Strings("labels", &t.labels)
	jobs.List(f, "documents", &t.documents, t.labels.Len())
	f.Strings("terms", &t.terms)
	jobs.List(f, "ends", &t.ends, t.terms.Len())
	jobs.List(f, "class", &t.class)
	jobs.List(f, "count", &t.count, len(t.class))
}

// Empty returns texts to read into.
func (t *texts) Empty() jobs.Spillable { return new(texts) }

// bytes is about the memory that they take.
func (t *texts) bytes() int64 {
	ofStrings := func(s jobs.Strings) int { return cap(s.Bytes) + 8*cap(s.Offsets) }
	return int64(ofStrings(t.labels)+ofStrings(t.terms)) + 8*int64(cap(t.documents)+cap(t.ends)+cap(t.count)) +
		4*int64(cap(t.class))
}

// partial returns what counting the leaf's texts would; false where a label or a cell is not as it must be.
func (t *texts) partial(state *words) (*partialCounts, bool) {
	labels, d := state.Labels.Keys, state.Dictionary
	class, documents := make([]int64, t.labels.Len()), make([]int64, labels.Len())
	number := classNumbers(labels)
	for i := range class {
		y, ok := number[string(t.labels.At(i))]
		if !ok {
			return nil, false
		}
		class[i], documents[y] = y, documents[y]+t.documents[i]
	}
	sum := cells{make([]int64, 0, len(t.class)), make([]int64, 0, len(t.class))}
	for place, term := range t.places(d) {
		for cell := t.begin(int(term)); term >= 0 && cell < t.ends[term]; cell++ {
			sum.add(int64(place)*int64(len(documents))+class[t.class[cell]], t.count[cell])
		}
	}
	return &partialCounts{records: t.records, documents: documents, cells: sum}, true
}

// begin is where the cells of a term begin.
func (t *texts) begin(term int) int64 {
	if term <= 0 {
		return 0
	}
	return t.ends[term-1]
}

// places returns the number of each of the dictionary's terms among those of the leaf, or -1.
func (t *texts) places(d *vocabulary.Dictionary) []int32 {
	terms := slices.Repeat([]int32{-1}, d.Len())
	for i := range t.terms.Len() {
		if place, ok := d.Lookup(t.terms.At(i)); ok {
			terms[place] = int32(i)
		}
	}
	return terms
}
