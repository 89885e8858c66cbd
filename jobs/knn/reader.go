package knn

import (
	"iter"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/features"
	"github.com/gram-compute/gram/protocol"
)

// space is what the base says about records: vectors, or texts.
type space struct {
	params  Params
	vectors *features.Space // nil where the metric compares texts
	labels  jobs.Strings    // in mode classify
	class   map[string]int32
	records int64 // of the base
}

// maxSparseWidth bounds the memory of a sparse row that is spread out.
const maxSparseWidth = tileFloats

func readSpace(p Params, a jobs.Arrays) (*space, error) {
	s := &space{params: p}
	if p.Metric != edit {
		s.vectors = &features.Space{}
	}
	if _, err := jobs.Read(a, s); err != nil {
		return nil, err
	}
	if s.records < 1 || p.Mode == modeClassify && (s.labels.Len() < 1 || s.labels.Len() > math.MaxInt32) {
		return nil, jobs.Malformed("a base of %d records and %d labels", s.records, s.labels.Len())
	}
	if s.vectors != nil && s.vectors.Sparse && s.vectors.Width > maxSparseWidth {
		return nil, protocol.InputFault(protocol.CodeInputLimit,
			"sparse vectors of width %d; a search spreads rows out and takes widths up to %d", s.vectors.Width,
			maxSparseWidth).
			WithHint("Choose fewer terms (features.text.max_features), or hash columns before the job.")
	}
	s.class = make(map[string]int32, s.labels.Len())
	for y := range s.labels.Len() {
		s.class[string(s.labels.At(y))] = int32(y)
	}
	return s, nil
}

// Fields lists what the state or model says about records.
func (s *space) Fields(f *jobs.Fields) {
	if s.vectors == nil {
		textFields(f, &s.labels, &s.records)
		return
	}
	s.vectors.Fields(f)
	if f.Reading() {
		s.labels, s.records = s.vectors.Labels, s.vectors.Records
	}
}

// reader gathers records into points. One goroutine.
type reader struct {
	*space
	vectors *features.Reader
	next    int64 // number of the next record
	chosen  []int
}

func (s *space) newReader(first int64) *reader {
	r := &reader{space: s, next: first}
	if s.vectors != nil {
		r.vectors = s.vectors.NewReader()
	}
	return r
}

// newPoints returns no rows of the space.
func (s *space) newPoints() *points {
	p := &points{}
	if s.vectors != nil {
		p.width = s.vectors.Width
		if s.params.Metric == hamming {
			p.words = (p.width + 63) / 64
		} else if s.vectors.Sparse {
			p.sparse.indptr = []int{0}
		}
	}
	return p
}

// add appends the records of a block that keep chooses; nil keeps all. It returns their places
// in the block.
func (r *reader) add(to *points, block *dataset.Block, keep func(dataset.Identity) bool) ([]int, error) {
	first := r.next
	r.next += int64(len(block.IDs))
	var err error
	if r.vectors == nil {
		err = r.addTexts(to, block, keep)
	} else {
		err = r.addVectors(to, block, keep)
	}
	for _, i := range r.chosen {
		to.ids = append(to.ids, first+int64(i))
	}
	to.rows += len(r.chosen)
	return r.chosen, err
}

func (r *reader) addTexts(to *points, block *dataset.Block, keep func(dataset.Identity) bool) error {
	r.chosen = r.chosen[:0]
	for i, id := range block.IDs {
		if keep == nil || keep(id) {
			r.chosen = append(r.chosen, i)
		}
	}
	if err := checkTexts(block); err != nil {
		return err
	}
	for _, i := range r.chosen {
		to.texts = append(to.texts, []rune(string(block.Texts[i])))
	}
	return nil
}

func (r *reader) addVectors(to *points, block *dataset.Block, keep func(dataset.Identity) bool) error {
	v, err := r.vectors.Read(block, keep)
	if err != nil {
		return err
	}
	r.chosen = append(r.chosen[:0], v.Records...)
	switch {
	case to.words > 0:
		return to.addBits(v)
	case v.Sparse.Width > 0:
		to.addSparse(v)
	default:
		to.addDense(v)
	}
	return nil
}

func (p *points) addDense(v features.Vectors) {
	if v.Dense.Stride == v.Dense.Cols {
		p.dense = append(p.dense, v.Dense.Data[:v.Rows*v.Dense.Cols]...)
		return
	}
	for i := range v.Rows {
		p.dense = append(p.dense, v.Dense.Row(i)...)
	}
}

func (p *points) addSparse(v features.Vectors) {
	for i := range v.Rows {
		index, value := v.Sparse.Row(i)
		p.sparse.indices = append(p.sparse.indices, index...)
		p.sparse.values = append(p.sparse.values, value...)
		p.sparse.indptr = append(p.sparse.indptr, len(p.sparse.values))
	}
}

// addBits packs features of 0 and 1, column j into bit j mod 64 of word j/64.
func (p *points) addBits(v features.Vectors) error {
	for i := range v.Rows {
		start := len(p.bits)
		p.bits = append(p.bits, make([]uint64, p.words)...)
		row := p.bits[start:]
		set := func(j int, x float32) error {
			switch x {
			case 0:
			case 1:
				row[j/64] |= 1 << (j % 64)
			default:
				return v.IDs[i].Fault("value %d of the vector is %v; metric hamming needs 0 or 1", j+1, x)
			}
			return nil
		}
		if v.Sparse.Width > 0 {
			index, value := v.Sparse.Row(i)
			for e, j := range index {
				if err := set(int(j), value[e]); err != nil {
					return err
				}
			}
			continue
		}
		for j, x := range v.Dense.Row(i) {
			if err := set(j, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// reserve takes the memory for so many records, at most a chunk of them, at once: growing to it would
// leave as much behind.
func (r *reader) reserve(p *points, records int64) {
	if p.width > 0 && p.words == 0 && p.sparse.indptr == nil {
		p.dense = make([]float32, 0, min(min(records, tileFloats)*int64(p.width), tileFloats+tileFloats/8))
	}
}

// expect takes the memory for so many more records at once, where a record's size is known.
func (p *points) expect(records int) {
	if p.width > 0 && p.words == 0 && p.sparse.indptr == nil && records <= math.MaxInt/p.width {
		p.dense = slices.Grow(p.dense, records*p.width)
	}
}

// readBase passes the base records of blocks on, a chunk of points at a time. There are so many records.
func (r *reader) readBase(blocks iter.Seq2[*dataset.Block, error], records int64, keep func(dataset.Identity) bool, chunk func(*points) error) error {
	p := r.newPoints()
	r.reserve(p, records)
	for block, err := range blocks {
		if err != nil {
			return err
		}
		rows, err := r.add(p, block, keep)
		if err != nil {
			return err
		}
		if r.params.Mode != modeSearch {
			for _, i := range rows {
				target, err := r.target(block, i)
				if err != nil {
					return err
				}
				p.target = append(p.target, target)
			}
		}
		if p.weight() >= tileFloats {
			if err := chunk(p); err != nil {
				return err
			}
			p.reset()
		}
	}
	return chunk(p)
}

// readQueries gathers all queries of blocks, and draws the sample among them. There are so many records,
// or it is not known (0).
func (r *reader) readQueries(blocks iter.Seq2[*dataset.Block, error], records int64, keep func(dataset.Identity) bool, s *sample) (*points, *truths, error) {
	p, t := r.newPoints(), &truths{known: r.params.Mode != modeSearch}
	r.reserve(p, records)
	for block, err := range blocks {
		if err != nil {
			return nil, nil, err
		}
		p.expect(len(block.IDs) + block.Rest)
		rows, err := r.add(p, block, keep)
		if err != nil {
			return nil, nil, err
		}
		for k, i := range rows {
			s.draw(p.rows-len(rows)+k, block.IDs[i])
		}
		t.known = t.known && (block.Labels != nil || len(block.IDs) == 0)
		if !t.known {
			continue
		}
		if err := t.add(block, rows, r.params.Mode); err != nil {
			return nil, nil, err
		}
	}
	return p, t, nil
}

func checkTexts(block *dataset.Block) error {
	if len(block.IDs) > 0 && (block.Texts == nil || block.Dense.Width > 0 || block.Sparse.Width > 0) {
		return block.IDs[0].Fault("the records are not texts, as metric edit needs")
	}
	return nil
}
