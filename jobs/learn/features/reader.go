package features

import (
	"fmt"
	"iter"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/protocol"
)

// Vectors are the records of a block that were kept, scaled. They are valid until the next
// call and the next block, may share the block's memory and must not be written to.
type Vectors struct {
	Rows    int
	Dense   kernelops.Matrix // without rows where sparse
	Sparse  dataset.Sparse   // Width 0 where dense
	Class   []int32          // of each row: the number of its label in Space.Labels, or -1
	IDs     []dataset.Identity
	Weights []float32 // nil where every row weighs 1
	Records []int     // of each row: its record in the block
	Lasting bool      // the memory of Dense or Sparse is that of a lasting block: it may be kept
}

// Reader reads blocks into a space. It keeps memory between calls: one goroutine.
type Reader struct {
	space   *Space
	bagger  *vocabulary.Bagger
	hashed  *hashBagger // instead of bagger
	values  []float32
	exact   []float64 // of a row before it is rounded
	filled  []float32 // a row without missing numbers
	mapped  []float32 // and before it is scaled
	coded   []float32 // with its categories
	indices []int32
	indptr  []int
	class   []int32
	unknown []int32            // of records without labels: -1 each
	ids     []dataset.Identity // kept, or the block's own
	kept    []dataset.Identity
	weights []float32
	records []int // the first of all, or those chosen
	all     []int // 0, 1, 2, ...
	chosen  []int
	trusts  bool
}

// Trust says that the records that are read next were read into the same space before: their values are not looked
// at once more.
func (r *Reader) Trust() { r.trusts = true }

// NewReader returns a Reader for one goroutine.
func (s *Space) NewReader() *Reader {
	r := &Reader{space: s}
	if s.mapper != nil {
		r.exact = make([]float64, len(s.mapper.powers))
	}
	if s.form == texts {
		tokenizer, err := s.text.Tokenizer()
		if err != nil {
			panic("features: " + err.Error()) // not reached: spaces are made with parameters that were checked
		}
		if s.hasher != nil {
			r.hashed = &hashBagger{tokenizer: tokenizer, hasher: s.hasher}
		} else {
			r.bagger = vocabulary.NewBagger(tokenizer, s.dictionary)
		}
	}
	return r
}

// Read returns the records that keep chooses; nil keeps all. Records of another shape
// than the space's, a weight that is negative and a value that is not finite, before or after
// scaling, are faults of CodeBadRecord with their position. Dense blocks that are kept whole and
// not scaled are not copied.
func (r *Reader) Read(block *dataset.Block, keep jobs.Choice) (Vectors, error) {
	if got, want := shapeOf(block), r.space.shape(); len(block.IDs) > 0 && got != want {
		return Vectors{}, shapeFault(block.IDs[0], got, want)
	}
	r.choose(block, keep)
	v := Vectors{Rows: len(r.records), Records: r.records, IDs: r.ids, Class: r.classes(block)}
	var err error
	if v.Weights, err = r.readWeights(block); err != nil {
		return Vectors{}, err
	}
	switch r.space.form {
	case dense:
		v.Dense, err = r.dense(block)
	case sparse:
		if r.space.encoder != nil {
			v.Sparse, err = r.encodedRows(block)
		} else {
			v.Sparse, err = r.sparse(block)
		}
	case texts:
		v.Sparse, err = r.bags(block)
	}
	v.Lasting = block.Lasting && r.inPlace(block)
	return v, err
}

// Rows reads blocks of training records in order: those that keep chooses, block by block. Errors are those of Read; a
// label that is not in the space is a fault of CodeCorrupt.
func (s *Space) Rows(
	blocks iter.Seq2[*dataset.Block, error], keep jobs.Choice,
) iter.Seq2[Vectors, error] {
	return func(yield func(Vectors, error) bool) {
		reader := s.NewReader()
		for block, err := range blocks {
			var rows Vectors
			if err == nil {
				rows, err = reader.Read(block, keep)
			}
			if unseen := slices.Index(rows.Class, -1); err == nil && unseen >= 0 {
				err = Unseen(rows.IDs[unseen])
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// inPlace reports whether the vectors of a block are its own, neither copied nor scaled.
func (r *Reader) inPlace(block *dataset.Block) bool {
	return r.space.identical() && len(r.records) == len(block.IDs)
}

// choose numbers the records to keep.
func (r *Reader) choose(block *dataset.Block, keep jobs.Choice) {
	if keep == nil {
		for i := len(r.all); i < len(block.IDs); i++ {
			r.all = append(r.all, i)
		}
		r.records, r.ids = r.all[:len(block.IDs)], block.IDs
		return
	}
	r.chosen, r.kept = r.chosen[:0], r.kept[:0]
	for i, id := range block.IDs {
		if keep(block, i) {
			r.chosen, r.kept = append(r.chosen, i), append(r.kept, id)
		}
	}
	r.records, r.ids = r.chosen, r.kept
}

func (r *Reader) classes(block *dataset.Block) []int32 {
	if block.Labels == nil {
		for len(r.unknown) < len(r.records) {
			r.unknown = append(r.unknown, -1)
		}
		return r.unknown[:len(r.records)]
	}
	r.class = r.class[:0]
	for _, i := range r.records {
		r.class = append(r.class, r.space.Class(block.Labels[i]))
	}
	return r.class
}

func (r *Reader) readWeights(block *dataset.Block) ([]float32, error) {
	if block.Weights == nil {
		return nil, nil
	}
	r.weights = r.weights[:0]
	for _, i := range r.records {
		w := block.Weights[i]
		if w < 0 || w-w != 0 {
			id := block.IDs[i]
			return nil, id.Fault("the weight is %v; a weight is a finite number from 0", w)
		}
		r.weights = append(r.weights, w)
	}
	return r.weights, nil
}

func (r *Reader) dense(block *dataset.Block) (kernelops.Matrix, error) {
	width, n := r.space.Width, len(r.records)
	m := kernelops.Matrix{Rows: n, Cols: width, Stride: width}
	inPlace := r.inPlace(block)
	if inPlace {
		m.Data = block.Dense.Values[:n*width]
	} else {
		r.values = kernelops.Resize(r.values, n*width)
		m.Data = r.values
	}
	if inPlace && (r.trusts || finiteRow(m.Data)) {
		return m, nil
	}
	for row, i := range r.records {
		given := r.fill(block.Dense.Row(i))
		from := given
		if r.space.mapper != nil {
			r.mapped = r.space.mapper.row(r.mapped[:0], from, r.exact)
			from = r.mapped
		}
		if e := r.space.encoder; e != nil {
			var err error
			if r.coded, err = e.dense(append(r.coded[:0], from...), block.IDs[i], block.Categories.Row(i)); err != nil {
				return kernelops.Matrix{}, err
			}
			from = r.coded
		}
		if !inPlace {
			r.scale(m.Row(row), from)
		}
		if err := r.check(block.IDs[i], m.Row(row), nil); err != nil {
			return kernelops.Matrix{}, r.blame(err, r.space.checkNumbers(block.IDs[i], from, nil),
				r.space.checkNumbers(block.IDs[i], given, nil))
		}
	}
	return m, nil
}

// fill returns a row with something put in for missing numbers.
func (r *Reader) fill(row []float32) []float32 {
	in := r.space.imputer
	if in == nil {
		return row
	}
	r.filled = kernelops.Resize(r.filled, in.width())
	in.row(r.filled, row)
	return r.filled
}

// check refuses values that are not finite.
func (r *Reader) check(id dataset.Identity, row []float32, index []int32) error {
	if r.trusts {
		return nil
	}
	return r.space.checkNumbers(id, row, index)
}

// scale sets dst to a dense row after scaling.
func (r *Reader) scale(dst, row []float32) {
	switch r.space.scale {
	case ScaleNone:
		copy(dst, row)
	case ScaleL2:
		copy(dst, row)
		normalize(dst)
	default:
		r.space.scaleRow(dst, row)
	}
}

// blame tells a value that was not finite before it was mapped, or scaled, from one that became so.
func (r *Reader) blame(after, before error, given ...error) error {
	switch {
	case len(given) > 0 && given[0] != nil:
		return given[0]
	case before != nil && r.space.mapper != nil:
		return mapped(before)
	case before != nil:
		return before
	}
	if fault, ok := after.(*protocol.Fault); ok {
		scaled := fault.WithHint("It lies too far from the values that the scaling was learned from.")
		scaled.What += fmt.Sprintf(" after scaling (%s)", r.space.scale)
		return scaled
	}
	return after
}
