package naivebayes

import (
	"slices"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// modelGrowth is in a model that grows: I64 [terms]. Counts are sums over records, so that a job which goes on
// counting from a model gives, to the bit, the model of all records at once, however they are cut into jobs and
// shards. For that the model has every term that occurred, as what min_df leaves out today may be frequent tomorrow,
// and two numbers for each: its occurrences, which order the dictionary, and the documents that hold it, by which a
// job that does not grow any more leaves terms out. One of them is the sum of the term's counts. The other is here:
// documents, of the Bernoulli form occurrences.
const modelGrowth = "growth"

// checkGrowth refuses to leave out terms of a model that grows.
func (p Params) checkGrowth() error {
	if p.Grows && (p.Text.MinDF != 1 || p.Text.MaxDF != 0 || p.Text.MaxFeatures != 0) {
		return protocol.SpecFault(
			"grows keeps every term, and text.min_df, max_df and max_features leave terms out: name them in a job " +
				"without grows, that adds the last records")
	}
	return nil
}

// accepts refuses a model that has lost counts, before a job begins from it.
func accepts(a jobs.Arrays) error {
	if err := (jobs.Kind{Name: KindName}).CheckModel(a); err != nil {
		return err
	}
	if _, grows := a[modelGrowth]; !grows {
		const lost = "spec.model is a model of kind %s without grows; a job of kind %s adds records to one with it " +
			"alone"
		return protocol.SpecFault(lost, KindName, KindName).
			WithHint("Train spec.model with params.grows: true, or leave it out and train on all records.")
	}
	return nil
}

// agreeWith refuses a model whose records were counted in another way; it reads few arrays.
func (p Params) agreeWith(a jobs.Arrays) error {
	if err := accepts(a); err != nil {
		return err
	}
	m := &model{}
	_, err := jobs.Read(a, jobs.FieldsFunc(func(f *jobs.Fields) {
		m.formField(f)
		m.params.Text.TokenizerFields(f)
	}))
	if err != nil {
		return err
	}
	differs := func(field string, theirs, ours any) error {
		return protocol.SpecFault(
			"spec.params: %s is %v in the model of spec.model, %v in this job", field, theirs, ours)
	}
	if m.params.Form != p.Form {
		return differs("form", m.params.Form, p.Form)
	}
	field, ours, theirs := p.Text.Differs(m.params.Text)
	switch words, ok := theirs.([]string); {
	case ok:
		return differs("text."+field, someOf(words), someOf(p.Text.StopWords))
	case field != "":
		return differs("text."+field, theirs, ours)
	}
	return nil
}

// totals are the sums of the counts of each term.
func (m *model) totals() []int64 {
	totals := make([]int64, m.dictionary.Len())
	for term := range totals {
		_, counts := m.counts.row(term)
		totals[term] = sums.Total(counts)
	}
	return totals
}

// usage returns the occurrences of each term of a model that grows, and the documents that hold it.
func (m *model) usage() (occurrences, documents []int64) {
	if m.params.Form == formBernoulli {
		return m.growth, m.totals()
	}
	return m.totals(), m.growth
}

// vocabulary is what the first phase would count in all records of a model that grows.
func (m *model) vocabulary() *vocabulary.Counts {
	occurrences, documents := m.usage()
	terms := vocabulary.Table{Keys: m.dictionary.Terms, Columns: [][]int64{occurrences, documents}}
	labels := vocabulary.Table{Keys: m.labels, Columns: [][]int64{m.documents}}
	return &vocabulary.Counts{Terms: terms.Sorted(), Labels: labels}
}

// growth is what a model over this dictionary needs to grow.
func (p Params) growth(terms vocabulary.Table, dictionary *vocabulary.Dictionary) []int64 {
	column := terms.Columns[1]
	if p.Form == formBernoulli {
		column = terms.Columns[0]
	}
	growth := make([]int64, dictionary.Len())
	for i := range terms.Keys.Len() {
		if term, ok := dictionary.Lookup(terms.Keys.At(i)); ok {
			growth[term] = column[i]
		}
	}
	return growth
}

// renumbered are the counts of a model for another dictionary, whose other terms they leave out, and for labels that
// include its own. No record of the job is among them.
func (m *model) renumbered(dictionary *vocabulary.Dictionary, labels jobs.Strings) *partialCounts {
	c := &partialCounts{documents: make([]int64, labels.Len())}
	class, list := make([]int64, m.labels.Len()), labels.List()
	for y, label := range m.labels.List() {
		at, _ := slices.BinarySearch(list, label)
		class[y], c.documents[at] = int64(at), m.documents[y]
	}
	// Labels are in byte order in both, so that the classes of a row ascend as before.
	for term := range dictionary.Len() {
		was, ok := m.dictionary.Lookup(dictionary.Terms.At(term))
		if !ok {
			continue
		}
		classes, counts := m.counts.row(int(was))
		for i, y := range classes {
			c.cells.add(int64(term)*int64(labels.Len())+class[y], counts[i])
		}
	}
	return c
}

// checkGrown compares a model that grows with what training guarantees: every term is in a document, and occurs at
// least once in each that holds it.
func (m *model) checkGrown() error {
	if m.growth == nil {
		return nil
	}
	all := sums.Total(m.documents)
	occurrences, documents := m.usage()
	for term, n := range documents {
		if n < 1 || n > occurrences[term] || n > all {
			return jobs.Malformed("term %d of a model that grows occurs %d times in %d of %d documents", term,
				occurrences[term], n, all)
		}
	}
	if !jobs.Exact(m.growth, 1) {
		return jobs.Malformed("a model's terms occur up to 2^53 times together")
	}
	return nil
}
