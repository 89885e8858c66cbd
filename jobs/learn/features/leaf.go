package features

import (
	"math"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/ranks"
	"github.com/gram-compute/gram/jobs/learn/sums"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
)

// columns are the statistics of dense vectors, or of the entries of sparse ones.
type columns struct {
	moments  *sums.Moments // of one class; nil where nothing needs them
	min, max []float32     // of dense vectors; for maxabs of sparse ones, max is the largest absolute value
}

// leafCounts is what one leaf finds.
type leafCounts struct {
	builder *Builder
	ops     *kernelops.Set
	shape   shape
	first   dataset.Identity // of a record of that shape
	records int64
	width   int      // of mapped vectors
	gone    *absence // nil where no means are put in
	counted *categoryCounter
	imputer *imputer    // of a constant, or nil
	filled  []float32   // a row without missing numbers
	mapper  *mapper     // nil without a map
	exact   []float64   // scratch space of the mapper
	adder   *sums.Adder // nil where no moments are needed
	tile    []float32   // dense rows that the adder takes next
	largest []float32   // absolute values of sparse columns; nil where they are not needed
	labels  *vocabulary.Counter
	terms   *vocabulary.Numberer
	hashed  hashes
	weighed documentCounter // of columns, where tfidf has no dictionary
	bagger  *hashBagger     // nil where hashed columns are not counted
	indices []int32
	values  []float32
	scratch []byte
}

func (b *Builder) newLeaf(ops *kernelops.Set) *leafCounts {
	l := &leafCounts{builder: b, ops: ops,
		labels: vocabulary.NewCounter(), terms: vocabulary.NewNumberer(b.tokenizer), hashed: newHashes()}
	if b.hasher != nil && b.params.TFIDF != nil {
		l.bagger = &hashBagger{tokenizer: b.tokenizer, hasher: b.hasher}
	}
	return l
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
	if err := l.builder.params.checkCategories(now.categories); err != nil {
		return err
	}
	l.shape, l.first, l.width = now, block.IDs[0], now.width
	if now.categories > 0 {
		l.counted = l.builder.newCategoryCounter(now.categories)
	}
	switch p := l.builder.params; {
	case p.putsMeans():
		l.gone = newAbsence(now.width)
	case p.puts():
		l.imputer = constant(now.width, p.Fill)
	}
	if m := l.builder.params.Map; m != nil {
		var err error
		if l.mapper, err = newMapper(*m, now.width); err != nil {
			return err
		}
		l.width, l.exact = l.mapper.width(), make([]float64, len(l.mapper.powers))
	}
	if now.form == dense && now.width > 0 || now.form == sparse && l.builder.params.Scale == ScaleStandard {
		l.adder = sums.NewMomentAdder(1, l.width, l.ops)
	}
	if now.form == sparse && l.builder.params.Scale == ScaleMaxAbs {
		l.largest = make([]float32, now.width)
	}
	return nil
}

// add counts record i of a block.
func (l *leafCounts) add(block *dataset.Block, i int) error {
	l.records++
	if block.Labels != nil && l.builder.countLabels {
		l.labels.Add(block.Labels[i])
	}
	switch l.shape.form {
	case dense:
		if l.counted != nil {
			if err := l.counted.add(block.Categories.Row(i)); err != nil || l.width == 0 {
				return err
			}
		}
		return l.addDense(block, i)
	case sparse:
		return l.addSparse(block, i)
	}
	if h := l.builder.hasher; h != nil {
		l.scratch = l.builder.tokenizer.Tokens(l.scratch, block.Texts[i],
			func(term []byte) { l.hashed.add(h.hash(term)) })
		if l.bagger != nil {
			l.indices, l.values = l.bagger.bag(block.Texts[i], l.indices[:0], l.values[:0])
			l.weighed.add(l.indices, l.values)
		}
		return nil
	}
	l.terms.Text(i)
	return nil
}

func (l *leafCounts) addDense(block *dataset.Block, i int) error {
	row := l.fill(block.Dense.Row(i))
	if err := checkFinite(block.IDs[i], row, nil); err != nil {
		return err
	}
	from := len(l.tile)
	if l.mapper == nil {
		l.tile = append(l.tile, row...)
	} else {
		l.tile = l.mapper.row(l.tile, row, l.exact)
		if err := checkFinite(block.IDs[i], l.tile[from:], nil); err != nil {
			return mapped(err)
		}
	}
	if l.builder.params.Scale == ScaleL2 {
		normalize(l.tile[from:])
	}
	if len(l.tile) >= tileFloats {
		l.addTile()
	}
	return nil
}

// fill returns a row with something put in for missing numbers: a constant, or 0, which adds nothing to sums.
func (l *leafCounts) fill(row []float32) []float32 {
	switch {
	case l.gone != nil:
		l.filled = append(l.filled[:0], row...)
		l.gone.add(l.filled)
		return l.filled
	case l.imputer != nil:
		l.filled = kernelops.Resize(l.filled, len(row))
		l.imputer.row(l.filled, row)
		return l.filled
	}
	return row
}

// tileFloats is about how many numbers are added at a time, so that they stay in the cache.
const tileFloats = 1 << 15

func (l *leafCounts) addTile() {
	x := kernelops.Matrix{Data: l.tile, Rows: len(l.tile) / l.width, Cols: l.width, Stride: l.width}
	l.adder.Dense(x, make([]int32, x.Rows), nil)
	l.tile = l.tile[:0]
}

func (l *leafCounts) addSparse(block *dataset.Block, i int) error {
	index, value := block.Sparse.Row(i)
	if err := checkFinite(block.IDs[i], value, index); err != nil {
		return err
	}
	if l.builder.params.TFIDF != nil {
		l.weighed.add(index, value)
	}
	if l.largest != nil {
		for k, j := range index {
			l.largest[j] = max(l.largest[j], value[k], -value[k])
		}
	}
	if l.adder == nil {
		return nil
	}
	row := block.Sparse
	row.Indptr = row.Indptr[i : i+2]
	l.adder.Sparse(row, []int32{0}, nil)
	return nil
}

func (l *leafCounts) counts() *Counts {
	var c columns
	if l.records == 0 { // as a shard without records, also where all of them are held out
		l.shape, l.first, l.adder, l.largest, l.gone, l.counted = shape{}, dataset.Identity{}, nil, nil, nil, nil
	}
	if l.adder != nil {
		if l.shape.form == dense {
			l.addTile()
			c.min, c.max = l.adder.Range()
		}
		c.moments = l.adder.Moments()
	}
	if l.largest != nil {
		c.max = l.largest
	}
	return &Counts{builder: l.builder, shape: l.shape, first: l.first, records: l.records, columns: c,
		labels: l.labels.Table(), terms: l.terms.Table(), hashed: l.hashed, documents: l.weighed.documents(),
		gone: l.gone, categories: l.counted.tables()}
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
	// documents are of columns, where tfidf has no dictionary.
	documents documents
	// categories are of each categorical column, with their records
	categories []vocabulary.Table
	gone       *absence      // of dense vectors, where means are put in
	ranks      *ranks.Counts // instead of all else, in the passes of a scan
}

// NewCounts makes counts to read into.
func (b *Builder) NewCounts() *Counts { return &Counts{builder: b} }

// Fields lists the counts; which fields there are depends on the records' form.
func (c *Counts) Fields(f *jobs.Fields) {
	if f.Has("ranks.counts", c.ranks != nil) {
		jobs.Make(f, &c.ranks).Fields(f)
		return
	}
	jobs.Enum(f, "form", &c.shape.form, unknown, texts)
	f.Int("width", &c.shape.width, 0, math.MaxInt)
	if f.Has("categories", c.shape.categories > 0) {
		f.Int("categories", &c.shape.categories, 1, math.MaxInt32)
	}
	jobs.Scalar(f, "records", &c.records)
	f.Require(c.records >= 0, "a partial of %d records", c.records)
	f.Check(c.checkShape)
	f.Text("first.object", &c.first.Object)
	jobs.Scalar(f, "first.offset", &c.first.Offset)
	vocabulary.TableFields(f, "labels", &c.labels, "records")
	if c.builder.counts(c.shape.form) {
		c.documents.Fields(f, c.builder.columns(c.shape), c.records)
	}
	c.categoryFields(f)
	if c.shape.form == dense && c.builder.params.putsMeans() {
		jobs.Make(f, &c.gone).Fields(f, c.shape.width, c.records)
	}
	switch width := c.width(f); {
	case c.shape.form == dense && width == 0:
	case c.shape.form == dense:
		c.columns.momentFields(f, width, c.records)
		jobs.List(f, "min", &c.columns.min, width)
		jobs.List(f, "max", &c.columns.max, width)
	case c.shape.form == sparse && c.builder.params.Scale == ScaleStandard:
		c.columns.momentFields(f, width, c.records)
	case c.shape.form == sparse && c.builder.params.Scale == ScaleMaxAbs:
		jobs.List(f, "max", &c.columns.max, width)
	case c.shape.form == texts && c.builder.hasher != nil:
		c.hashed.Fields(f)
	case c.shape.form == texts:
		vocabulary.TableFields(f, "terms", &c.terms, "count", "documents")
	}
}

// categoryFields are the categories of each column; hashed ones are columns.
func (c *Counts) categoryFields(f *jobs.Fields) {
	if f.Reading() {
		c.categories = nil
		for range c.shape.categories {
			c.categories = append(c.categories, vocabulary.Table{})
		}
	}
	for k := range c.categories {
		t := &c.categories[k]
		vocabulary.TableFields(f, "categories."+strconv.Itoa(k), t, "records")
		f.Check(func() error { return c.builder.checkTable(*t, c.records) })
	}
}

// width is that of the vectors after they are mapped.
func (c *Counts) width(f *jobs.Fields) int {
	if c.builder.params.Map == nil || c.shape.form != dense {
		return c.shape.width
	}
	m, err := newMapper(*c.builder.params.Map, c.shape.width)
	if err != nil {
		f.Check(func() error { return jobs.Malformed("a partial of vectors that have no map: %v", err) })
		return c.shape.width
	}
	return m.width()
}

// counts reports whether the records of each column are counted: for tfidf, where no dictionary does.
func (b *Builder) counts(f form) bool {
	return b.params.TFIDF != nil && (f == sparse || f == texts && b.hasher != nil)
}

// columns is the number of columns of sparse vectors, or of hashed texts.
func (b *Builder) columns(s shape) int {
	if s.form == texts {
		return b.hasher.width()
	}
	return s.width
}

// checkShape refuses the shape of records that no leaf counts.
func (c *Counts) checkShape() error {
	form, width := c.shape.form, c.shape.width
	p := c.builder.params
	known := p.checkForm(form) == nil && (form == texts || width > 0 || form == dense && c.shape.categories > 0)
	if form == dense {
		known = known && p.checkCategories(c.shape.categories) == nil
	}
	if form == unknown && c.records > 0 || form != unknown && !known {
		return jobs.Malformed("a partial of %d records of %v of width %d", c.records, form, width)
	}
	return nil
}

func (c *columns) momentFields(f *jobs.Fields, width int, records int64) {
	jobs.Make(f, &c.moments).Fields(f)
	f.Require(c.moments.Width == width && c.moments.Classes() == 1, "moments of %d x %d for columns of %d",
		c.moments.Classes(), c.moments.Width, width)
	f.Check(func() error {
		if weight := c.moments.Weight.Float(0); weight != float64(records) {
			return jobs.Malformed("moments of %v records, not %d", weight, records)
		}
		return nil
	})
}
