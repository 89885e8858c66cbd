package features

import (
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

func (l *leafCounts) partial() partial {
	return partial{shape: l.shape, first: l.first, records: l.records, columns: l.columns,
		labels: l.labels.Table(), terms: l.terms.Table(), hashed: l.hashed, hashes: l.phase.hasher != nil}
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

// partial is a partial as Go values.
type partial struct {
	shape   shape
	first   dataset.Identity
	records int64
	columns columns
	labels  vocabulary.Table // column records
	terms   vocabulary.Table // columns count, documents
	hashed  hashes           // instead of terms
	hashes  bool
}

func (p partial) arrays() jobs.Arrays {
	a := jobs.Arrays{}
	jobs.PutScalar(a, partForm, int32(p.shape.form))
	jobs.PutScalar(a, partWidth, int64(p.shape.width))
	jobs.PutScalar(a, partRecords, p.records)
	a.PutText(firstObject, p.first.Object)
	jobs.PutScalar(a, firstOffset, p.first.Offset)
	p.labels.Put(a, labelsName, "records")
	if p.columns.mean != nil {
		jobs.Put(a, partMean, p.columns.mean)
		jobs.Put(a, partM2, p.columns.m2)
	}
	if p.columns.min != nil {
		jobs.Put(a, partMin, p.columns.min)
		jobs.Put(a, partMax, p.columns.max)
	}
	if p.columns.entries != nil {
		jobs.Put(a, partEntries, p.columns.entries)
	}
	switch {
	case p.shape.form != texts:
	case p.hashes:
		p.hashed.put(a)
	default:
		p.terms.Put(a, termsName, "count", "documents")
	}
	return a
}

func (ph *Phase) readPartial(a jobs.Arrays) (p partial, err error) {
	kind, err := jobs.GetScalar[int32](a, partForm)
	if err != nil {
		return partial{}, err
	}
	width, err := jobs.GetScalar[int64](a, partWidth)
	if err != nil {
		return partial{}, err
	}
	p.shape = shape{form(kind), int(width)}
	if p.shape.form < unknown || p.shape.form > texts || width < 0 {
		return partial{}, jobs.Malformed("a partial of form %d and width %d", kind, width)
	}
	if p.records, err = jobs.GetScalar[int64](a, partRecords); err != nil {
		return partial{}, err
	}
	if p.records < 0 {
		return partial{}, jobs.Malformed("a partial of %d records", p.records)
	}
	if p.first.Object, err = a.Text(firstObject); err != nil {
		return partial{}, err
	}
	if p.first.Offset, err = jobs.GetScalar[int64](a, firstOffset); err != nil {
		return partial{}, err
	}
	if p.labels, err = vocabulary.GetTable(a, labelsName, "records"); err != nil {
		return partial{}, err
	}
	if err = ph.readTerms(a, &p); err != nil {
		return partial{}, err
	}
	p.columns, err = ph.readColumns(a, p.shape)
	return p, err
}

func (ph *Phase) readTerms(a jobs.Arrays, p *partial) (err error) {
	switch p.hashes = ph.hasher != nil; {
	case p.shape.form != texts:
	case p.hashes:
		p.hashed, err = readHashes(a)
	default:
		p.terms, err = vocabulary.GetTable(a, termsName, "count", "documents")
	}
	return err
}

func (ph *Phase) readColumns(a jobs.Arrays, s shape) (c columns, err error) {
	sparseMoments := s.form == sparse && ph.params.Scale == ScaleStandard
	if s.form != dense && !sparseMoments {
		return columns{}, nil
	}
	if c.mean, err = jobs.Get[float64](a, partMean, s.width); err != nil {
		return columns{}, err
	}
	if c.m2, err = jobs.Get[float64](a, partM2, s.width); err != nil {
		return columns{}, err
	}
	if sparseMoments {
		c.entries, err = jobs.Get[int64](a, partEntries, s.width)
		return c, err
	}
	if c.min, err = jobs.Get[float32](a, partMin, s.width); err != nil {
		return columns{}, err
	}
	c.max, err = jobs.Get[float32](a, partMax, s.width)
	return c, err
}
