package features

import (
	"math"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
)

// columns are the statistics of dense vectors, or of the entries of sparse ones.
type columns struct {
	moments
	min, max []float32 // dense only
	entries  []int64   // sparse only: stored entries of each column
}

// leafCounts is what one leaf finds.
type leafCounts struct {
	builder *Builder
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

func (b *Builder) newLeaf() *leafCounts {
	return &leafCounts{builder: b, labels: vocabulary.NewCounter(), terms: vocabulary.NewCounter(), hashed: newHashes()}
}

// begin checks a block against the records before it.
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
	if err := l.builder.params.checkForm(now.form); err != nil {
		return err
	}
	l.shape, l.first = now, block.IDs[0]
	l.columns = l.builder.newColumns(now)
	return nil
}

// newColumns makes what the statistics of a shape need.
func (b *Builder) newColumns(s shape) columns {
	switch {
	case s.form == dense:
		return columns{moments: newMoments(s.width), min: make([]float32, s.width), max: make([]float32, s.width)}
	case s.form == sparse && b.params.Scale == ScaleStandard:
		return columns{moments: newMoments(s.width), entries: make([]int64, s.width)}
	}
	return columns{}
}

// add counts record i of a block.
func (l *leafCounts) add(block *dataset.Block, i int) error {
	l.records++
	if block.Labels != nil && l.builder.countLabels {
		l.labels.Add(block.Labels[i])
	}
	switch l.shape.form {
	case dense:
		return l.addDense(block, i)
	case sparse:
		return l.addSparse(block, i)
	}
	if h := l.builder.hasher; h != nil {
		l.scratch = l.builder.tokenizer.Tokens(l.scratch, block.Texts[i],
			func(term []byte) { l.hashed.add(h.hash(term)) })
		return nil
	}
	l.terms.Next()
	l.scratch = l.builder.tokenizer.Tokens(l.scratch, block.Texts[i], l.terms.Add)
	return nil
}

func (l *leafCounts) addDense(block *dataset.Block, i int) error {
	row := block.Dense.Row(i)
	if err := checkFinite(block.IDs[i], row, nil); err != nil {
		return err
	}
	if l.builder.params.Scale == ScaleL2 {
		l.row = append(l.row[:0], row...)
		normalize(l.row)
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

func (l *leafCounts) counts() *Counts {
	return &Counts{builder: l.builder, shape: l.shape, first: l.first, records: l.records, columns: l.columns,
		labels: l.labels.Table(), terms: l.terms.Table(), hashed: l.hashed}
}

// Counts are what some neighboring leaves found.
type Counts struct {
	builder *Builder
	shape   shape
	first   dataset.Identity
	records int64
	columns columns
	labels  vocabulary.Table // column records
	terms   vocabulary.Table // columns count, documents
	hashed  hashes           // instead of terms, where the phase hashes
}

// NewCounts makes counts to read into.
func (b *Builder) NewCounts() *Counts { return &Counts{builder: b} }

// Fields lists the counts; which fields there are depends on the records' form.
func (c *Counts) Fields(f *jobs.Fields) {
	jobs.Enum(f, "form", &c.shape.form, unknown, texts)
	f.Int("width", &c.shape.width, 0, math.MaxInt)
	jobs.Scalar(f, "records", &c.records)
	f.Require(c.records >= 0, "a partial of %d records", c.records)
	f.Check(c.checkShape)
	f.Text("first.object", &c.first.Object)
	jobs.Scalar(f, "first.offset", &c.first.Offset)
	vocabulary.TableFields(f, "labels", &c.labels, "records")
	switch width := c.shape.width; {
	case c.shape.form == dense:
		c.columns.momentFields(f, width)
		jobs.List(f, "min", &c.columns.min, width)
		jobs.List(f, "max", &c.columns.max, width)
	case c.shape.form == sparse && c.builder.params.Scale == ScaleStandard:
		c.columns.momentFields(f, width)
		jobs.List(f, "entries", &c.columns.entries, width)
	case c.shape.form == texts && c.builder.hasher != nil:
		c.hashed.Fields(f)
	case c.shape.form == texts:
		vocabulary.TableFields(f, "terms", &c.terms, "count", "documents")
	}
}

// checkShape refuses the shape of records that no leaf counts.
func (c *Counts) checkShape() error {
	form, width := c.shape.form, c.shape.width
	known := c.builder.params.checkForm(form) == nil && (form == texts || width > 0)
	if form == unknown && c.records > 0 || form != unknown && !known {
		return jobs.Malformed("a partial of %d records of %v of width %d", c.records, form, width)
	}
	return nil
}

func (c *columns) momentFields(f *jobs.Fields, width int) {
	jobs.List(f, "mean", &c.mean, width)
	jobs.List(f, "m2", &c.m2, width)
}
