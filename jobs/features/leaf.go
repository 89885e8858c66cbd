package features

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/vocabulary"
)

// columns are the statistics of dense vectors, or of the entries of sparse ones.
type columns struct {
	moments
	min, max []float32 // dense only
	entries  []int64   // sparse only: stored entries of each column
}

// leafCounts is what one leaf finds.
type leafCounts struct {
	phase   *Phase
	shape   shape
	first   dataset.Identity // of a record of that shape
	records int64
	columns columns
	labels  *vocabulary.Counter
	terms   *vocabulary.Counter
	hashed  hashes
	row     []float32
	scratch []byte
}

func (p *Phase) newLeaf() *leafCounts {
	return &leafCounts{phase: p, labels: vocabulary.NewCounter(), terms: vocabulary.NewCounter(), hashed: newHashes()}
}

// begin holds a block against the records before it.
func (l *leafCounts) begin(block *dataset.Block) error {
	now := shapeOf(block)
	switch {
	case len(block.IDs) == 0 || now == l.shape && now.form != unknown:
		return nil
	case now.form == unknown:
		return shapeFault(block.IDs[0], now, shape{form: dense})
	case l.shape.form != unknown:
		return shapeFault(block.IDs[0], now, l.shape)
	}
	if err := l.phase.params.checkForm(now.form); err != nil {
		return err
	}
	l.shape, l.first = now, block.IDs[0]
	l.columns = l.phase.newColumns(now)
	return nil
}

// newColumns makes what the statistics of a shape need.
func (p *Phase) newColumns(s shape) columns {
	switch {
	case s.form == dense:
		return columns{moments: newMoments(s.width), min: make([]float32, s.width), max: make([]float32, s.width)}
	case s.form == sparse && p.params.Scale == ScaleStandard:
		return columns{moments: newMoments(s.width), entries: make([]int64, s.width)}
	}
	return columns{}
}

// add counts record i of a block.
func (l *leafCounts) add(block *dataset.Block, i int) error {
	l.records++
	if block.Labels != nil && l.phase.countLabels {
		l.labels.Add(block.Labels[i])
	}
	switch l.shape.form {
	case dense:
		return l.addDense(block, i)
	case sparse:
		return l.addSparse(block, i)
	}
	if h := l.phase.hasher; h != nil {
		l.scratch = l.phase.tokenizer.Tokens(l.scratch, block.Texts[i], func(term []byte) { l.hashed.add(h.hash(term)) })
		return nil
	}
	l.terms.Next()
	l.scratch = l.phase.tokenizer.Tokens(l.scratch, block.Texts[i], l.terms.Add)
	return nil
}

func (l *leafCounts) addDense(block *dataset.Block, i int) error {
	row := block.Dense.Row(i)
	if err := checkFinite(block.IDs[i], row, nil); err != nil {
		return err
	}
	if l.phase.params.Scale == ScaleL2 {
		l.row = append(l.row[:0], row...)
		normalise(l.row)
		row = l.row
	}
	l.columns.addRow(row, l.records)
	if l.records == 1 {
		copy(l.columns.min, row)
		copy(l.columns.max, row)
		return nil
	}
	for j, v := range row {
		l.columns.min[j] = min(l.columns.min[j], v)
		l.columns.max[j] = max(l.columns.max[j], v)
	}
	return nil
}

func (l *leafCounts) addSparse(block *dataset.Block, i int) error {
	index, value := block.Sparse.Row(i)
	if err := checkFinite(block.IDs[i], value, index); err != nil || l.columns.entries == nil {
		return err
	}
	for k, j := range index {
		l.columns.entries[j]++
		l.columns.add(j, value[k], l.columns.entries[j])
	}
	return nil
}

func (l *leafCounts) partial() *partial {
	return &partial{phase: l.phase, shape: l.shape, first: l.first, records: l.records, columns: l.columns,
		labels: l.labels.Table(), terms: l.terms.Table(), hashed: l.hashed}
}

// Arrays of a partial, beside "labels" with "labels.records" and "terms" with "terms.count" and
// "terms.documents", or "hashes" with "hashes.many". Those of columns are there for the shapes that have them.
const (
	partForm    = "form"
	partWidth   = "width"
	partRecords = "records"
	firstObject = "first.object"
	firstOffset = "first.offset"
	partMean    = "mean"
	partM2      = "m2"
	partMin     = "min"
	partMax     = "max"
	partEntries = "entries"
	labelsName  = "labels"
	termsName   = "terms"
)

// partial is what some neighboring leaves found.
type partial struct {
	phase   *Phase
	shape   shape
	first   dataset.Identity
	records int64
	columns columns
	labels  vocabulary.Table // column records
	terms   vocabulary.Table // columns count, documents
	hashed  hashes           // instead of terms, where the phase hashes
}

// Fields lists the partial; which fields there are depends on the records' form.
func (p *partial) Fields(f *jobs.Fields) {
	jobs.Enum(f, partForm, &p.shape.form, unknown, texts)
	f.Int(partWidth, &p.shape.width, 0, math.MaxInt)
	jobs.Scalar(f, partRecords, &p.records)
	f.Require(p.records >= 0, "a partial of %d records", p.records)
	f.Text(firstObject, &p.first.Object)
	jobs.Scalar(f, firstOffset, &p.first.Offset)
	vocabulary.TableFields(f, labelsName, &p.labels, "records")
	switch width := p.shape.width; {
	case p.shape.form == dense:
		p.columns.momentFields(f, width)
		jobs.List(f, partMin, &p.columns.min, width)
		jobs.List(f, partMax, &p.columns.max, width)
	case p.shape.form == sparse && p.phase.params.Scale == ScaleStandard:
		p.columns.momentFields(f, width)
		jobs.List(f, partEntries, &p.columns.entries, width)
	case p.shape.form == texts && p.phase.hasher != nil:
		p.hashed.Fields(f)
	case p.shape.form == texts:
		vocabulary.TableFields(f, termsName, &p.terms, "count", "documents")
	}
}

func (c *columns) momentFields(f *jobs.Fields, width int) {
	jobs.List(f, partMean, &c.mean, width)
	jobs.List(f, partM2, &c.m2, width)
}
